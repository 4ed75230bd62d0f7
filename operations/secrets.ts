import type { z } from 'zod';
import type { secretsAnswer } from '../schema/api/answers.ts';
import type { Permission } from '../schema/permission.ts';
import { encodeSecret, secretRandomBytes } from '../schema/secret-value.ts';
import { describeScheme } from '../signatures/schemes.ts';
import type { Factory } from './factory.ts';

/** The formats of a generated secret: URL-safe text, or the format of Standard Webhooks. */
export type SecretFormat = 'token' | 'whsec';

/** Sets a team secret to a random value of 256 bits and returns it. It cannot be read later. */
export async function generateSecretValue(
  { store, randomBytes }: Pick<Factory, 'store' | 'randomBytes'>,
  name: string,
  format: SecretFormat,
): Promise<string> {
  const scheme = format === 'whsec' ? describeScheme('standard-webhooks') : undefined;
  const value = encodeSecret(scheme, randomBytes(secretRandomBytes));
  await store.teamSecrets.set(name, value);
  return value;
}

export type FactorySecrets = z.output<typeof secretsAnswer>['secrets'];

/** Lists the team secrets for one factory: all with the manage permission, otherwise only those that it uses. */
export async function listFactorySecrets(
  { name: factory, store }: Pick<Factory, 'name' | 'store'>,
  permission: Permission,
): Promise<FactorySecrets> {
  const secrets = (await store.teamSecrets.list()).map(({ name, state, updatedAt, usedBy }) => {
    const here = usedBy.filter(use => use.factory === factory).map(use => use.webhook);
    return { name, state, updatedAt, usedBy: here, usedElsewhere: here.length < usedBy.length };
  });
  return permission === 'manage' ? secrets : secrets.filter(({ usedBy }) => usedBy.length > 0);
}
