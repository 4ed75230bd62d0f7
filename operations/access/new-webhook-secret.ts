import type { NewWebhook } from '../../schema/api/requests.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { suggestSecretName } from '../../schema/names.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { SignatureDescription } from '../../signatures/description.ts';
import { describeScheme, findScheme, isStandardWebhooks, nameSender } from '../../signatures/schemes.ts';

/** The team secret of a new webhook. */
export type SecretChoice =
  | { readonly kind: 'existing'; readonly name: string }
  /** Without a value it is declared, because the provider has not issued it yet. */
  | {
      readonly kind: 'new';
      readonly name: string;
      readonly value?: string | undefined;
      readonly generated: boolean;
    };

type Sender = Pick<WebhookDefinition, 'authMode' | 'signatureScheme'>;
type RandomBytes = (count: number) => Uint8Array;

/** Chooses the team secret. Fails with `secret-taken`, or `request-invalid` if mode or scheme exclude the choice. */
export function chooseSecret(
  { name: webhook, secret, ...sender }: NewWebhook,
  takenNames: ReadonlySet<string>,
  randomBytes: RandomBytes,
): SecretChoice {
  if (secret.kind === 'existing') return { kind: 'existing', name: secret.name };
  const name = secret.name ?? suggestSecretName(webhook, sender.authMode, takenNames);
  if (takenNames.has(name)) {
    throw new Refusal('secret-taken', { detail: `the team secret ${name} already exists` });
  }
  if (secret.kind === 'supplied') {
    requireSupplied(sender, '/secret/kind');
    return { kind: 'new', name, value: secret.value, generated: false };
  }
  if (secret.kind === 'blank' && sender.authMode === 'signature' && !isStandard(sender)) {
    return { kind: 'new', name, generated: false };
  }
  return { kind: 'new', name, value: generateSecret(sender, randomBytes, '/secret/kind'), generated: true };
}

/** Generates a secret. Fails with `request-invalid` if the provider issues it. */
export function generateSecret(sender: Sender, randomBytes: RandomBytes, pointer: string): string {
  if (sender.authMode === 'signature' && !acceptsGeneratedSecret(sender)) {
    throw refuseRequest(
      pointer,
      'the provider issues the secret of this scheme; supply it',
      describeLocation(sender),
    );
  }
  return encodeSecret(findDescription(sender), randomBytes(secretRandomBytes));
}

/** Fails with `request-invalid` in the token modes, whose secrets are always generated. */
export function requireSupplied({ authMode }: Sender, pointer: string): void {
  if (authMode === 'signature') return;
  throw refuseRequest(
    pointer,
    `the secret for ${authMode} is generated`,
    'leave it out, or name an existing team secret',
  );
}

function acceptsGeneratedSecret(sender: Sender): boolean {
  const { signatureScheme } = sender;
  if (typeof signatureScheme === 'object') return true;
  return isStandard(sender) || findScheme(signatureScheme)?.secretCommand === 'generate';
}

function isStandard(sender: Sender): boolean {
  const description = findDescription(sender);
  return description !== undefined && isStandardWebhooks(description);
}

function findDescription({ signatureScheme }: Sender): SignatureDescription | undefined {
  return signatureScheme === undefined ? undefined : describeScheme(signatureScheme);
}

function describeLocation({ signatureScheme }: Sender): string | undefined {
  const scheme = findScheme(signatureScheme);
  return scheme && `${nameSender(scheme, 'first')} shows it at: ${scheme.secretLocation}`;
}

function refuseRequest(pointer: string, message: string, hint?: string): Refusal {
  return new Refusal('request-invalid', {
    mistakes: [{ pointer, code: 'definition/value', message, hint }],
  });
}

/** @limit Randomness of a generated secret, in bytes (256 bits): as long as a SHA-256 digest, which RFC 2104 recommends for an HMAC key. */
export const secretRandomBytes = 32;

/** Encodes a new secret: as URL-safe text, or in the encoding from which the signature scheme derives its key. */
export function encodeSecret(description: SignatureDescription | undefined, random: Uint8Array): string {
  const bytes = Buffer.from(random);
  if (description?.primitive !== 'hmac' || !description.key) return bytes.toString('base64url');
  const { encoding, stripPrefix = '' } = description.key;
  return stripPrefix + bytes.toString(encoding === 'utf8' ? 'base64url' : encoding);
}
