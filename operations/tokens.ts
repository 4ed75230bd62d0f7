import { type ApiToken, digestToken } from '../store/api-tokens.ts';
import type { Factory } from './factory.ts';

/** Creates an API token and gives it, this once. Fails with `token-taken` or `token-invalid`. */
export async function createToken(
  { store, randomBytes }: Pick<Factory, 'store' | 'randomBytes'>,
  token: Pick<ApiToken, 'name' | 'factory' | 'permission'>,
): Promise<string> {
  const text = `hmk_${Buffer.from(randomBytes(32)).toString('base64url')}`;
  await store.apiTokens.create({ ...token, sha256: digestToken(text) });
  return text;
}
