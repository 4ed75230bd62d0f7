import { type ApiToken, digestToken, type NewApiToken } from '../store/api-tokens.ts';
import type { Store } from '../store/ports.ts';
import type { Factory } from './factory.ts';

/** @limit Randomness in an API token, in bytes: 256 bits cannot be guessed. */
const tokenRandomBytes = 32;

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
