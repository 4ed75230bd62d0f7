import { hash } from 'node:crypto';

/** @limit Lifetime of a dashboard session, in ms: a working day. */
export const sessionMs = 12 * 60 * 60 * 1000;
/** @limit Most dashboard sessions of one API token: beyond it the token's own oldest one ends, so that memory stays bounded. */
const sessionsPerTokenMax = 100;

/** Sessions of the dashboard, in this process's memory: a restart ends all, and revoking a token ends its sessions. */
export interface Sessions {
  /**
   * Begins a session for the token with this digest, at this `Host`. Returns its ID for the cookie; keeps only the hash
   * of the ID.
   */
  begin(tokenSha256: string, host: string): string;
  findTokenDigest(presented: PresentedSession): string | undefined;
  end(id: string): void;
}

/** A session's ID as a request presents it. It is valid only at the host and port at which the session began. */
export interface PresentedSession {
  readonly id: string;
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
  const hashId = (id: string) => hash('sha256', id);
  return {
    begin: (tokenSha256, host) => {
      const id = Buffer.from(randomBytes(32)).toString('base64url');
      for (const [key, { untilMs }] of sessions) if (monotonicMs() >= untilMs) sessions.delete(key);
      // A map keeps the order of insertion, so the first is the oldest.
      const own = [...sessions].filter(([, session]) => session.tokenSha256 === tokenSha256);
      const [oldest] = own;
      if (own.length >= sessionsPerTokenMax && oldest) sessions.delete(oldest[0]);
      sessions.set(hashId(id), { tokenSha256, host, untilMs: monotonicMs() + sessionMs });
      return id;
    },
    findTokenDigest: ({ id, host }) => {
      const session = sessions.get(hashId(id));
      return session?.host === host && monotonicMs() < session.untilMs ? session.tokenSha256 : undefined;
    },
    end: id => {
      sessions.delete(hashId(id));
    },
  };
}
