import { hash } from 'node:crypto';
import type { StoredSession, StoredSessions } from '../../../store/stored-sessions.ts';

/** @limit Lifetime of a dashboard session that an API token began, in ms: a working day. Revoking the token ends it. */
export const tokenSessionMs = 12 * 60 * 60 * 1000;
/** @limit Lifetime of a dashboard session of a person, in ms: a removed group is noticed only at the next sign-in. */
export const personSessionMs = 4 * 60 * 60 * 1000;
/** @limit Most dashboard sessions of one API token or person: beyond it their own oldest one ends, so that memory stays bounded. */
const sessionsPerOwnerMax = 100;

/** Sessions of the dashboard. Revoking a token ends its sessions. */
export interface Sessions {
  /** Begins a session with two secrets: the ID for the cookie, and the key for the page. Keeps only a hash of both. */
  begin(session: StoredSession, lifetimeMs: number): Promise<PresentedSession>;
  /** Finds a session; undefined if it is over or began at another host. */
  find(presented: PresentedSession): Promise<StoredSession | undefined>;
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
  const hashBoth = ({ id, key }: PresentedSession) => hash('sha256', `${id} ${key}`);
  const makeSecret = () => Buffer.from(randomBytes(32)).toString('base64url');
  return {
    begin: async (session, lifetimeMs) => {
      const begun = { id: makeSecret(), key: makeSecret(), host: session.host };
      await stored.keep(hashBoth(begun), session, { lifetimeMs, perOwnerMax: sessionsPerOwnerMax });
      return begun;
    },
    find: async presented => {
      const session = await stored.find(hashBoth(presented));
      return session?.host === presented.host ? session : undefined;
    },
    end: presented => stored.remove(hashBoth(presented)),
  };
}
