/** Sign-ins to the dashboard, each under a digest of its secrets. */
export interface StoredSessions {
  /** Keeps a session until it expires. Ends the token's oldest ones beyond the bound. */
  keep(digest: string, session: StoredSession, bounds: SessionBounds): Promise<void>;
  /** The session with this digest, unless it has expired. */
  find(digest: string): Promise<StoredSession | undefined>;
  remove(digest: string): Promise<void>;
}

export interface StoredSession {
  readonly tokenSha256: string;
  /** The host and port at which it began. */
  readonly host: string;
}

export interface SessionBounds {
  readonly lifetimeMs: number;
  readonly perTokenMax: number;
}
