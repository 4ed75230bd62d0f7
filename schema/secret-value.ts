import type { SignatureDescription } from '../signatures/description.ts';

/** Bytes of randomness in a generated secret. */
export const secretRandomBytes = 32;

/** A new secret of a webhook: URL-safe text for the token modes, for a signature in the form that its key is made from. */
export function secretValue(description: SignatureDescription | undefined, random: Uint8Array): string {
  const bytes = Buffer.from(random);
  if (description?.primitive !== 'hmac' || !description.key) return bytes.toString('base64url');
  const { encoding, stripPrefix = '' } = description.key;
  return stripPrefix + bytes.toString(encoding === 'utf8' ? 'base64url' : encoding);
}

/** `DEPLOYS_SECRET` for the webhook `deploys`, with a number where that name is taken. */
export function suggestSecretName(webhook: string, taken: ReadonlySet<string>): string {
  const base = `${webhook.toUpperCase().replaceAll('-', '_')}_SECRET`;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  return name;
}
