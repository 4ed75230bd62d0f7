import type { z } from 'zod';
import type { secretsAnswer } from '../schema/api/answers.ts';
import type { Permission } from '../schema/permission.ts';
import type { Factory } from './factory.ts';

/** The forms of a generated secret: URL-safe text, or as Standard Webhooks senders expect it. */
export const secretFormats = ['token', 'whsec'] as const;
export type SecretFormat = (typeof secretFormats)[number];

/** Gives a team secret a random value of 256 bits and returns it, this once. */
export async function generateSecretValue(
  { store, randomBytes }: Pick<Factory, 'store' | 'randomBytes'>,
  name: string,
  format: SecretFormat,
): Promise<string> {
  const random = Buffer.from(randomBytes(32));
  const value = format === 'whsec' ? `whsec_${random.toString('base64')}` : random.toString('base64url');
  await store.teamSecrets.set(name, value);
  return value;
}

export type FactorySecrets = z.output<typeof secretsAnswer>['secrets'];

/** The team secrets as one factory may see them: all with the manage permission, else those that it uses. */
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
