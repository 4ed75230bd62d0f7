import { hash } from 'node:crypto';
import { z } from 'zod';
import { namePattern } from '../../schema/name.ts';
import { permissions } from '../../schema/permission.ts';
import { StoreError } from '../store-error.ts';
import type { Home } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withLock } from './files/lock.ts';

/** @limit Most API tokens of a home: all of them are read for one look-up. */
const apiTokensMax = 1_000;

const storedToken = z.strictObject({
  name: z.string(),
  /** The one factory that it is for; null: all. */
  factory: z.string().regex(namePattern).nullable(),
  permission: z.enum(permissions),
  /** Of the token: what it is recognised by. The token itself is nowhere. */
  sha256: z.hex().length(64),
  createdAt: z.string(),
  /** Within the hour. */
  lastUsedAt: z.string().nullable(),
});

const tokensFileShape = z.strictObject({ formatVersion: z.literal(1), tokens: z.array(storedToken) });

export type ApiToken = z.output<typeof storedToken>;

export interface ApiTokenStore {
  readonly home: Home;
  readonly lockTimeoutMs: number;
}

export interface NewApiToken extends Pick<ApiToken, 'name' | 'factory' | 'permission'> {
  readonly now: Date;
  readonly randomBytes: (count: number) => Uint8Array;
}

const tokenNamePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Makes an API token and gives it, this once. Fails with `token-taken` or `token-invalid`. */
export async function createApiToken(
  store: ApiTokenStore,
  { name, factory, permission, now, randomBytes }: NewApiToken,
): Promise<string> {
  if (!tokenNamePattern.test(name)) {
    const message = `"${name}" cannot name an API token; use up to 63 letters, digits, _ . and -`;
    throw new StoreError('token-invalid', message);
  }
  const token = `hmk_${Buffer.from(randomBytes(32)).toString('base64url')}`;
  const stored = { name, factory, permission, createdAt: now.toISOString(), lastUsedAt: null };
  await changeTokens(store, tokens => {
    if (tokens.some(other => other.name === name)) {
      throw new StoreError('token-taken', `there is an API token ${name} already`);
    }
    if (tokens.length >= apiTokensMax) {
      throw new StoreError('token-invalid', `there are ${apiTokensMax} API tokens; revoke some`);
    }
    return [...tokens, { ...stored, sha256: tokenDigest(token) }];
  });
  return token;
}

/** Fails with `token-unknown`. */
export async function revokeApiToken(store: ApiTokenStore, name: string): Promise<void> {
  await changeTokens(store, tokens => {
    if (tokens.some(token => token.name === name)) return tokens.filter(token => token.name !== name);
    throw new StoreError('token-unknown', `there is no API token ${name}`);
  });
}

/** Keeps when the token of this digest was used, if it is still there. */
export async function recordTokenUse(store: ApiTokenStore, sha256: string, at: Date): Promise<void> {
  const lastUsedAt = at.toISOString();
  await changeTokens(store, tokens =>
    tokens.map(token => (token.sha256 === sha256 ? { ...token, lastUsedAt } : token)),
  );
}

export async function listApiTokens(home: Home): Promise<readonly ApiToken[]> {
  return (await openJsonFile(home.tokensFile, tokensFileShape, noTokens)).data.tokens;
}

/** What a token is stored and looked up by. It has 256 random bits, so that a plain hash suffices. */
export function tokenDigest(token: string): string {
  return hash('sha256', token);
}

async function changeTokens(
  { home, lockTimeoutMs }: ApiTokenStore,
  change: (tokens: readonly ApiToken[]) => ApiToken[],
): Promise<void> {
  await withLock(home.tokensFile, lockTimeoutMs, async () => {
    const database = await openJsonFile(home.tokensFile, tokensFileShape, noTokens);
    database.data = { formatVersion: 1, tokens: change(database.data.tokens) };
    await database.write();
  });
}

const noTokens = { formatVersion: 1 as const, tokens: [] };
