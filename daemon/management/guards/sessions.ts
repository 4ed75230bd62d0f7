import { hash } from 'node:crypto';
import type { StoredSessions } from '../../../store/stored-sessions.ts';

/** @limit Lifetime of a dashboard session, in ms: a working day. */
export const sessionMs = 12 * 60 * 60 * 1000;
/** @limit Most dashboard sessions of one API token: beyond it the token's own oldest one ends, so that memory stays bounded. */
const sessionsPerTokenMax = 100;

/** Sessions of the dashboard. Revoking a token ends its sessions. */
export interface Sessions {
  /**
   * Begins a session for the token with this digest, at this `Host`. Keeps only a hash of its two secrets: the ID for
   * the cookie, and the key for the page.
   */
  begin(tokenSha256: string, host: string): Promise<PresentedSession>;
  findTokenDigest(presented: PresentedSession): Promise<string | undefined>;
  end(presented: PresentedSession): Promise<void>;
}

/** A session as a request presents it. It is valid only at the host and port at which it began. */
export interface PresentedSession {
  /** From the cookie, which browsers send to every port of the host. */
  readonly id: string;
  /** From a header. Only the page has it, in the storage of its origin, to which the port belongs. */
  readonly key: string;
  readonly host: string;
}

export function createSessions(stored: StoredSessions, randomBytes: (count: number) => Uint8Array): Sessions {
  const bounds = { lifetimeMs: sessionMs, perTokenMax: sessionsPerTokenMax };
  const hashBoth = ({ id, key }: PresentedSession) => hash('sha256', `${id} ${key}`);
  const makeSecret = () => Buffer.from(randomBytes(32)).toString('base64url');
  return {
    begin: async (tokenSha256, host) => {
      const session = { id: makeSecret(), key: makeSecret(), host };
      await stored.keep(hashBoth(session), { tokenSha256, host }, bounds);
      return session;
    },
    findTokenDigest: async presented => {
      const session = await stored.find(hashBoth(presented));
      return session?.host === presented.host ? session.tokenSha256 : undefined;
    },
    end: presented => stored.remove(hashBoth(presented)),
  };
}
