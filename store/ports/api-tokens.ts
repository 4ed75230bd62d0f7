import { hash } from 'node:crypto';
import { z } from 'zod';
import { permissions } from '../../schema/grant.ts';
import { namePattern } from '../../schema/names.ts';
import type { Quota } from '../../schema/quota.ts';
import { StoreError } from './store-error.ts';

/** @limit API tokens in a store: each look-up may read all of them. */
export const apiTokensQuota: Quota = { all: 1_000, share: 20, reserve: 100 };
/** @limit Most digests of revoked API tokens that are kept of each factory, the newest ones: they only say why a token is refused. */
export const revokedTokensMax = 20;
/** @limit Longest name of an API token, in characters: a label for people. */
const apiTokenNameCharsMax = 63;

export const apiTokenShape = z.strictObject({
  name: z.string(),
  /** The only factory that the token is valid for; null: all factories. */
  factory: z.string().regex(namePattern).nullable(),
  permission: z.enum(permissions),
  /** The digest by which the token is recognized. The token itself is not stored. */
  sha256: z.hex().length(64),
  createdAt: z.string(),
  /** The time from which it is refused; null: never. */
  expiresAt: z.string().nullable(),
  /** Accurate to the minute. */
  lastUsedAt: z.string().nullable(),
});

export type ApiToken = z.output<typeof apiTokenShape>;

export type NewApiToken = Pick<ApiToken, 'name' | 'factory' | 'permission' | 'sha256'> &
  Partial<Pick<ApiToken, 'expiresAt'>>;

/** The API tokens, each stored as its digest. */
export interface ApiTokens {
  /** Fails with `token-taken` if the factory has one of that name, or with `token-invalid`. */
  create(token: NewApiToken): Promise<void>;
  /** Revokes the token with this digest. Fails with `token-unknown`. */
  revoke(sha256: string): Promise<void>;
  /** All tokens, oldest first. */
  list(): Promise<readonly ApiToken[]>;
  /** The token with that digest, also an expired one; undefined once it is revoked, even by another process. */
  find(sha256: string): Promise<ApiToken | undefined>;
  /** Whether a token with that digest was revoked, as far as the newest ones of its factory that were revoked tell. */
  wasRevoked(sha256: string): Promise<boolean>;
  /** Stores when the tokens with these digests were used, if they still exist. */
  recordUses(uses: ReadonlyMap<string, Date>): Promise<void>;
}

/** The digest by which a token is stored and found. A token has 256 random bits, so a plain hash is enough. */
export function digestToken(token: string): string {
  return hash('sha256', token);
}

/** Fails with `token-invalid`. */
export function requireTokenName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name) && name.length <= apiTokenNameCharsMax) return;
  throw new StoreError(
    'token-invalid',
    `"${name}" is not a valid name for an API token; use 1–${apiTokenNameCharsMax} letters, digits, _ . or -; start with a letter or digit`,
  );
}
