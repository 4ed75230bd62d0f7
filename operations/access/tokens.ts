import type { z } from 'zod';
import type { newTokenRequest } from '../../schema/api/requests.ts';
import { findPermission, type Grant } from '../../schema/grant.ts';
import { Refusal, type RefusalCode } from '../../schema/refusal.ts';
import type { createdTokenAnswer } from '../../schema/views/access.ts';
import { type ApiToken, digestToken, type NewApiToken } from '../../store/ports/api-tokens.ts';
import type { Store } from '../../store/ports/store.ts';
import { StoreError, type StoreErrorCode } from '../../store/ports/store-error.ts';
import type { Factory } from '../factory.ts';

/** @limit Randomness in an API token, in bytes: 256 bits cannot be guessed. */
const tokenRandomBytes = 32;

/** What the caller may do, and until when at most. */
export interface TokenGiver {
  readonly grants: readonly Grant[];
  /** When the credential of the caller expires; null: never. */
  readonly expiresAt: string | null;
}

/**
 * Creates an API token for the factory, or for all, which has no more than the caller: neither factories nor time. Only
 * the answer has the token. Fails with `token-not-permitted`, `api-token-taken` or `request-invalid`.
 */
export async function issueToken(
  { name: factory, store, randomBytes, now }: Pick<Factory, 'name' | 'store' | 'randomBytes' | 'now'>,
  { name, permission, allFactories, expiresInSeconds }: z.output<typeof newTokenRequest>,
  giver: TokenGiver,
): Promise<z.output<typeof createdTokenAnswer>> {
  const scope = allFactories ? null : factory;
  requireManaged(giver, scope);
  const expiresAt =
    expiresInSeconds === undefined
      ? null
      : new Date(now().getTime() + expiresInSeconds * 1_000).toISOString();
  const isLonger = expiresAt === null || expiresAt > (giver.expiresAt ?? expiresAt);
  if (giver.expiresAt !== null && isLonger) {
    const detail = `your own credential expires at ${giver.expiresAt}: the new API token must expire by then`;
    throw new Refusal('token-not-permitted', { detail });
  }
  const created = { name, factory: scope, permission, expiresAt };
  return { ...created, token: await createToken({ store, randomBytes }, created).catch(refuse) };
}

/**
 * Revokes the API token of this name: the factory's, or else that of all factories or of another one, if the caller may manage
 * what it is for. Fails with `api-token-unknown` or `token-not-permitted`.
 */
export async function revokeToken(
  { name: factory, store: { apiTokens } }: Pick<Factory, 'name' | 'store'>,
  name: string,
  giver: TokenGiver,
): Promise<void> {
  const named = (await apiTokens.list()).filter(token => token.name === name);
  // A caller who may not manage the factory of a token learns nothing about it.
  const found =
    named.find(token => token.factory === factory) ??
    named.find(token => token.factory === null) ??
    named.find(token => findPermission(giver.grants, token.factory) === 'manage');
  if (!found) throw new Refusal('api-token-unknown', { detail: `there is no API token ${name}` });
  requireManaged(giver, found.factory);
  await apiTokens.revoke(found.sha256).catch(refuse);
}

function requireManaged({ grants }: TokenGiver, factory: string | null): void {
  if (findPermission(grants, factory) === 'manage') return;
  const detail = 'only who may manage all factories may create or revoke an API token for all of them';
  throw new Refusal('token-not-permitted', { detail });
}

const refusalCodes: Partial<Record<StoreErrorCode, RefusalCode>> = {
  'token-taken': 'api-token-taken',
  'token-invalid': 'request-invalid',
  'token-unknown': 'api-token-unknown',
};

function refuse(cause: unknown): never {
  const code = cause instanceof StoreError ? refusalCodes[cause.code] : undefined;
  if (!code) throw cause;
  throw new Refusal(code, { detail: (cause as StoreError).message }, { cause });
}

/** Creates an API token and returns it. It cannot be read later. Fails with `token-taken` or `token-invalid`. */
export async function createToken(
  { store, randomBytes }: Pick<Factory, 'store' | 'randomBytes'>,
  token: Omit<NewApiToken, 'sha256'>,
): Promise<string> {
  const text = `hmk_${Buffer.from(randomBytes(tokenRandomBytes)).toString('base64url')}`;
  await store.apiTokens.create({ ...token, sha256: digestToken(text) });
  return text;
}

/**
 * Lists the API tokens of a factory, or all, oldest first and without their digests. Tokens for all factories are of
 * each.
 */
export async function listTokens(
  { apiTokens }: Pick<Store, 'apiTokens'>,
  factory?: string,
): Promise<Omit<ApiToken, 'sha256'>[]> {
  const tokens = (await apiTokens.list()).map(({ sha256: _, ...token }) => token);
  return tokens.filter(token => factory === undefined || token.factory === null || token.factory === factory);
}
