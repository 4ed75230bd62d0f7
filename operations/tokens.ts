import { type ApiToken, digestToken } from '../store/api-tokens.ts';
import type { Factory } from './factory.ts';

/** @limit Randomness in an API token, in bytes: 256 bits cannot be guessed. */
const tokenRandomBytes = 32;

/** Creates an API token and returns it. It cannot be read later. Fails with `token-taken` or `token-invalid`. */
export async function createToken(
  { store, randomBytes }: Pick<Factory, 'store' | 'randomBytes'>,
  token: Pick<ApiToken, 'name' | 'factory' | 'permission'>,
): Promise<string> {
  const text = `hmk_${Buffer.from(randomBytes(tokenRandomBytes)).toString('base64url')}`;
  await store.apiTokens.create({ ...token, sha256: digestToken(text) });
  return text;
}
