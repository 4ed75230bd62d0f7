import type { Logger } from 'pino';
import { type ApiToken, type ApiTokens, digestToken } from '../../../store/api-tokens.ts';

/** @limit Precision of an API token's last use, in ms: a request writes nothing while the stored one is younger. */
const tokenUseMs = 60 * 60 * 1000;

/** The API tokens as they are now, and their last uses. */
export interface KnownTokens {
  find(token: string): Promise<ApiToken | undefined>;
  findDigest(sha256: string): Promise<ApiToken | undefined>;
  /** Resolves when no last use is being written. */
  close(): Promise<void>;
}

export interface KnownTokensOptions {
  readonly apiTokens: ApiTokens;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Looks tokens up and records when they are used. Fails as reading does: then nobody is let in. */
export function openKnownTokens({ apiTokens, nowMs, log }: KnownTokensOptions): KnownTokens {
  const usesKept = new Map<string, number>();
  let writing = Promise.resolve();

  const keepUse = ({ sha256, name, lastUsedAt }: ApiToken) => {
    const kept = usesKept.get(sha256) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    const atMs = nowMs();
    if (atMs - kept < tokenUseMs) return;
    usesKept.set(sha256, atMs);
    writing = writing
      .then(() => apiTokens.recordUse(sha256, new Date(atMs)))
      .catch((error: unknown) =>
        log.warn({ err: error, token: name }, 'the last use of a token is not recorded'),
      );
  };

  const findDigest = async (sha256: string) => {
    const token = await apiTokens.find(sha256);
    if (token) keepUse(token);
    return token;
  };
  return { find: token => findDigest(digestToken(token)), findDigest, close: () => writing };
}
