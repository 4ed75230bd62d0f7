import { hash } from 'node:crypto';
import { z } from 'zod';
import { namePattern } from '../schema/name.ts';
import { permissions } from '../schema/permission.ts';
import { StoreError } from './store-error.ts';

/** @limit Most API tokens of a store: all of them are read for one look-up. */
export const apiTokensMax = 1_000;

export const apiTokenShape = z.strictObject({
  name: z.string(),
  /** The one factory that it is for; null: all. */
  factory: z.string().regex(namePattern).nullable(),
  permission: z.enum(permissions),
  /** Digest that the token is recognised by. The token itself is not stored. */
  sha256: z.hex().length(64),
  createdAt: z.string(),
  /** Accurate to the hour. */
  lastUsedAt: z.string().nullable(),
});

export type ApiToken = z.output<typeof apiTokenShape>;

/** The API tokens, each by its digest. */
export interface ApiTokens {
  /** Fails with `token-taken` or `token-invalid`. */
  create(token: Pick<ApiToken, 'name' | 'factory' | 'permission' | 'sha256'>): Promise<void>;
  /** Fails with `token-unknown`. */
  revoke(name: string): Promise<void>;
  list(): Promise<readonly ApiToken[]>;
  /** The token of that digest as it is now: a revoked one is not found. Fails as reading does. */
  find(sha256: string): Promise<ApiToken | undefined>;
  /** Stores when the token of that digest was used, if it still exists. */
  recordUse(sha256: string, at: Date): Promise<void>;
}

/** The digest by which a token is stored and found. A token has 256 random bits, so that a plain hash is enough. */
export function digestToken(token: string): string {
  return hash('sha256', token);
}

/** Fails with `token-invalid`. */
export function requireTokenName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name)) return;
  const message = `"${name}" cannot name an API token: use up to 63 letters, digits, _ . and -`;
  throw new StoreError('token-invalid', message);
}
