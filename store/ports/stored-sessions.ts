import { hash } from 'node:crypto';
import { z } from 'zod';

/** @limit Time after which a dashboard session ends that nobody uses, in ms: a page that is open counts only while somebody uses it. */
export const sessionIdleMs = 60 * 60 * 1000;
/** Characters of a session's ID, of which each has 4 bits. */
const idChars = 16;

/** A person who signed in at an OpenID Connect provider, as the provider described them then. */
export const storedPersonShape = z.strictObject({
  issuer: z.string(),
  /** Identifies the person at the issuer, and never changes. */
  subject: z.string(),
  name: z.string(),
  /** Only groups that the settings name. */
  groups: z.array(z.string()),
});

export type StoredPerson = z.output<typeof storedPersonShape>;

/** Sign-ins to the dashboard, each under a digest of its secrets. */
export interface StoredSessions {
  /** Keeps a session until it expires. Ends the owner's oldest ones beyond the bound. */
  keep(digest: string, session: StoredSession, bounds: SessionBounds): Promise<void>;
  /** The session with this digest, unless it has expired or nobody has used it for `idleMs`. */
  find(digest: string, idleMs: number): Promise<FoundSession | undefined>;
  /** All sessions that `find` would find, those that began last first. */
  list(idleMs: number): Promise<ListedSession[]>;
  /** Records that somebody uses the session now. */
  recordUse(digest: string): Promise<void>;
  remove(digest: string): Promise<void>;
}

export interface StoredSession {
  /** The digest of the API token, or of the person's issuer and subject. */
  readonly ownerSha256: string;
  /** Undefined if an API token began it. */
  readonly person?: StoredPerson | undefined;
  /** The host and port at which it began. */
  readonly host: string;
  /** The address from which somebody signed in. */
  readonly from: string;
}

export interface FoundSession extends StoredSession {
  /** Time since the last recorded use, by the clock of the store. */
  readonly idleForMs: number;
}

export interface ListedSession extends StoredSession {
  readonly digest: string;
  readonly beganAt: string;
  readonly usedAt: string;
  readonly until: string;
}

export interface SessionBounds {
  readonly lifetimeMs: number;
  readonly perOwnerMax: number;
}

/** The ID by which people name the session with this digest. Nobody can use the session with it. */
export function toSessionId(digest: string): string {
  return hash('sha256', digest).slice(0, idChars);
}
