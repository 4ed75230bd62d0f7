import type { Logger } from 'pino';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { type ApiToken, type ApiTokens, digestToken } from '../../../store/ports/api-tokens.ts';

/** @limit Precision of an API token's last use, in ms: a request writes nothing while the stored one is younger. */
const tokenUseMs = 60_000;

/** Finds API tokens that are stored now and have not expired, and records their use. */
export interface KnownTokens {
  /** Fails with `token-unknown`, `token-revoked` or `token-expired`. */
  require(token: string): Promise<ApiToken>;
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
  let waiting = new Map<string, Date>();
  let writing = Promise.resolve();

  const writeUses = async () => {
    const uses = waiting;
    waiting = new Map();
    if (uses.size === 0) return;
    await apiTokens
      .recordUses(uses)
      .catch((error: unknown) => log.warn({ err: error }, 'cannot record the last use of API tokens'));
  };
  const recordUse = ({ sha256, lastUsedAt }: ApiToken) => {
    const recordedMs = recordedUses.get(sha256) ?? (lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
    const atMs = nowMs();
    if (atMs - recordedMs < tokenUseMs) return;
    recordedUses.set(sha256, atMs);
    // The next write takes all uses that come during this one.
    waiting.set(sha256, new Date(atMs));
    writing = writing.then(writeUses);
  };

  const hasExpired = ({ expiresAt }: ApiToken) => expiresAt !== null && Date.parse(expiresAt) <= nowMs();

  const findDigest = async (sha256: string) => {
    const token = await apiTokens.find(sha256);
    if (!token || hasExpired(token)) return undefined;
    recordUse(token);
    return token;
  };
  const require = async (presented: string) => {
    const sha256 = digestToken(presented);
    const token = await apiTokens.find(sha256);
    // Only who has the token learns that it was valid once.
    if (!token)
      throw new ApiProblem((await apiTokens.wasRevoked(sha256)) ? 'token-revoked' : 'token-unknown');
    if (hasExpired(token)) throw new ApiProblem('token-expired');
    recordUse(token);
    return token;
  };
  return { require, findDigest, close: () => writing };
}
