import { hash } from 'node:crypto';

/** @limit Lifetime of a dashboard session, in ms: a working day. */
export const sessionMs = 12 * 60 * 60 * 1000;
/** @limit Most dashboard sessions: beyond it the oldest one ends, so that memory stays bounded. */
const sessionsMax = 1_000;

/** Sessions of the dashboard, in this process's memory: a restart ends them, and a revoked token ends its own. */
export interface Sessions {
  /** Begins a session for the token of that digest; gives its id, which goes into the cookie and is kept nowhere. */
  begin(tokenSha256: string): string;
  tokenDigestOf(id: string): string | undefined;
  end(id: string): void;
}

export interface SessionsOptions {
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

export function createMemorySessions({ nowMs, randomBytes }: SessionsOptions): Sessions {
  const sessions = new Map<string, { readonly tokenSha256: string; readonly untilMs: number }>();
  const keyOf = (id: string) => hash('sha256', id);
  return {
    begin: tokenSha256 => {
      const id = Buffer.from(randomBytes(32)).toString('base64url');
      // A map keeps the order of insertion: the first is the oldest.
      const [oldest] = sessions.keys();
      if (sessions.size >= sessionsMax && oldest !== undefined) sessions.delete(oldest);
      sessions.set(keyOf(id), { tokenSha256, untilMs: nowMs() + sessionMs });
      return id;
    },
    tokenDigestOf: id => {
      const session = sessions.get(keyOf(id));
      return session && nowMs() < session.untilMs ? session.tokenSha256 : undefined;
    },
    end: id => {
      sessions.delete(keyOf(id));
    },
  };
}
