import type { Logger } from 'pino';
import {
  type ApiToken,
  type ApiTokenStore,
  listApiTokens,
  recordTokenUse,
  tokenDigest,
} from '../../../store/embedded/api-tokens.ts';
import { fileVersion } from '../../../store/embedded/files/file-version.ts';

/** @limit Precision of an API token's last use, in ms: a request writes nothing while the stored one is younger. */
const tokenUseMs = 60 * 60 * 1000;

/** The API tokens as they are now: one that was revoked is not found by the next look. */
export interface ApiTokens {
  find(token: string): Promise<ApiToken | undefined>;
  findDigest(sha256: string): Promise<ApiToken | undefined>;
  /** Resolves when no last use is being written. */
  close(): Promise<void>;
}

export interface ApiTokensOptions {
  readonly store: ApiTokenStore;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Looks at the file's version for each look-up and reads it when that changed. Fails as reading does: nobody is let in. */
export function openApiTokens({ store, nowMs, log }: ApiTokensOptions): ApiTokens {
  const { home } = store;
  let version: string | undefined;
  let byDigest: ReadonlyMap<string, ApiToken> = new Map();
  const usesKept = new Map<string, number>();
  let writing = Promise.resolve();

  const current = async () => {
    const now = await fileVersion(home.tokensFile);
    if (now === version) return byDigest;
    const tokens = await listApiTokens(home);
    byDigest = new Map(tokens.map(token => [token.sha256, token]));
    version = now;
    return byDigest;
  };

  const keepUse = ({ sha256, name, lastUsedAt }: ApiToken) => {
    const kept = usesKept.get(sha256) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    const atMs = nowMs();
    if (atMs - kept < tokenUseMs) return;
    usesKept.set(sha256, atMs);
    writing = writing
      .then(() => recordTokenUse(store, sha256, new Date(atMs)))
      .catch((error: unknown) =>
        log.warn({ err: error, token: name }, 'the last use of a token is not kept'),
      );
  };

  const findDigest = async (sha256: string) => {
    const token = (await current()).get(sha256);
    if (token) keepUse(token);
    return token;
  };
  return { find: token => findDigest(tokenDigest(token)), findDigest, close: () => writing };
}
