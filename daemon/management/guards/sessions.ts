import { hash } from 'node:crypto';

/** @limit Lifetime of a dashboard session, in ms: a working day. */
export const sessionMs = 12 * 60 * 60 * 1000;
/** @limit Most dashboard sessions of one API token: beyond it the token's own oldest one ends, so that memory stays bounded. */
const sessionsPerTokenMax = 100;

/** Sessions of the dashboard, in this process's memory: a restart ends all, and revoking a token ends its sessions. */
export interface Sessions {
  /**
   * Begins a session for the token with this digest, at this `Host`. Keeps only a hash of its two secrets: the ID for
   * the cookie, and the key for the page.
   */
  begin(tokenSha256: string, host: string): PresentedSession;
  findTokenDigest(presented: PresentedSession): string | undefined;
  end(presented: PresentedSession): void;
}

/** A session as a request presents it. It is valid only at the host and port at which it began. */
export interface PresentedSession {
  /** From the cookie, which browsers send to every port of the host. */
  readonly id: string;
  /** From a header. Only the page has it, in the storage of its origin, to which the port belongs. */
  readonly key: string;
  readonly host: string;
}

export interface SessionsOptions {
  readonly monotonicMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

interface Session {
  readonly tokenSha256: string;
  readonly host: string;
  readonly untilMs: number;
}

export function createMemorySessions({ monotonicMs, randomBytes }: SessionsOptions): Sessions {
  const sessions = new Map<string, Session>();
  const hashBoth = ({ id, key }: PresentedSession) => hash('sha256', `${id} ${key}`);
  const makeSecret = () => Buffer.from(randomBytes(32)).toString('base64url');
  return {
    begin: (tokenSha256, host) => {
      const session = { id: makeSecret(), key: makeSecret(), host };
      for (const [key, { untilMs }] of sessions) if (monotonicMs() >= untilMs) sessions.delete(key);
      // A map keeps the order of insertion, so the first is the oldest.
      const own = [...sessions].filter(([, session]) => session.tokenSha256 === tokenSha256);
      const [oldest] = own;
      if (own.length >= sessionsPerTokenMax && oldest) sessions.delete(oldest[0]);
      sessions.set(hashBoth(session), { tokenSha256, host, untilMs: monotonicMs() + sessionMs });
      return session;
    },
    findTokenDigest: presented => {
      const session = sessions.get(hashBoth(presented));
      return session?.host === presented.host && monotonicMs() < session.untilMs
        ? session.tokenSha256
        : undefined;
    },
    end: presented => {
      sessions.delete(hashBoth(presented));
    },
  };
}
