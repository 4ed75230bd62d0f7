import { z } from 'zod';

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
  /** The session with this digest, unless it has expired. */
  find(digest: string): Promise<StoredSession | undefined>;
  remove(digest: string): Promise<void>;
}

export interface StoredSession {
  /** The digest of the API token, or of the person's issuer and subject. */
  readonly ownerSha256: string;
  /** Undefined if an API token began it. */
  readonly person?: StoredPerson | undefined;
  /** The host and port at which it began. */
  readonly host: string;
}

export interface SessionBounds {
  readonly lifetimeMs: number;
  readonly perOwnerMax: number;
}
