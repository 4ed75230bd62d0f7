import type { Logger } from 'pino';
import { type ApiToken, type ApiTokens, digestToken } from '../../../store/api-tokens.ts';

/** @limit Precision of an API token's last use, in ms: a request writes nothing while the stored one is younger. */
const tokenUseMs = 60 * 60 * 1000;

/** Finds API tokens as they are stored now, and records their use. */
export interface KnownTokens {
  find(token: string): Promise<ApiToken | undefined>;
  findDigest(sha256: string): Promise<ApiToken | undefined>;
  /** Resolves when the last uses are written. */
  close(): Promise<void>;
}

export interface KnownTokensOptions {
  readonly apiTokens: ApiTokens;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Opens the API tokens. A look-up fails if they cannot be read, so that nobody gets access then. */
export function openKnownTokens({ apiTokens, nowMs, log }: KnownTokensOptions): KnownTokens {
  const recordedUses = new Map<string, number>();
  let writing = Promise.resolve();

  const recordUse = ({ sha256, name, lastUsedAt }: ApiToken) => {
    const recordedMs = recordedUses.get(sha256) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    const atMs = nowMs();
    if (atMs - recordedMs < tokenUseMs) return;
    recordedUses.set(sha256, atMs);
    writing = writing
      .then(() => apiTokens.recordUse(sha256, new Date(atMs)))
      .catch((error: unknown) =>
        log.warn({ err: error, token: name }, 'cannot record the last use of an API token'),
      );
  };

  const findDigest = async (sha256: string) => {
    const token = await apiTokens.find(sha256);
    if (token) recordUse(token);
    return token;
  };
  return { find: token => findDigest(digestToken(token)), findDigest, close: () => writing };
}
