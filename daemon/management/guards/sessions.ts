import { hash } from 'node:crypto';

/** @limit Lifetime of a dashboard session, in ms: a working day. */
export const sessionMs = 12 * 60 * 60 * 1000;
/** @limit Most dashboard sessions: beyond it the oldest one ends, so that memory stays bounded. */
const sessionsMax = 1_000;

/** Sessions of the dashboard, in this process's memory: a restart ends all, and revoking a token ends its sessions. */
export interface Sessions {
  /** Begins a session for the token with this digest. Returns its ID for the cookie; keeps only the hash of the ID. */
  begin(tokenSha256: string): string;
  findTokenDigest(id: string): string | undefined;
  end(id: string): void;
}

export interface SessionsOptions {
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

export function createMemorySessions({ nowMs, randomBytes }: SessionsOptions): Sessions {
  const sessions = new Map<string, { readonly tokenSha256: string; readonly untilMs: number }>();
  const hashId = (id: string) => hash('sha256', id);
  return {
    begin: tokenSha256 => {
      const id = Buffer.from(randomBytes(32)).toString('base64url');
      // A map keeps the order of insertion, so the first is the oldest.
      const [oldest] = sessions.keys();
      if (sessions.size >= sessionsMax && oldest !== undefined) sessions.delete(oldest);
      sessions.set(hashId(id), { tokenSha256, untilMs: nowMs() + sessionMs });
      return id;
    },
    findTokenDigest: id => {
      const session = sessions.get(hashId(id));
      return session && nowMs() < session.untilMs ? session.tokenSha256 : undefined;
    },
    end: id => {
      sessions.delete(hashId(id));
    },
  };
}
