import type { NewWebhook } from '../schema/api/requests.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { Refusal } from '../schema/refusal.ts';
import { suggestSecretName } from '../schema/secret-name.ts';
import { encodeSecret, secretRandomBytes } from '../schema/secret-value.ts';
import type { SignatureDescription } from '../signatures/description.ts';
import { describeScheme, findScheme } from '../signatures/schemes.ts';

/** What becomes of a new webhook's team secret. */
export type SecretChoice =
  | { readonly kind: 'existing'; readonly name: string }
  /** Without a value it is declared: the provider is yet to issue it. */
  | {
      readonly kind: 'new';
      readonly name: string;
      readonly value?: string | undefined;
      readonly generated: boolean;
    };

type Sender = Pick<WebhookDefinition, 'authMode' | 'signatureScheme'>;
type RandomBytes = (count: number) => Uint8Array;

/** Fails with `request-invalid` for a way that the auth mode or the scheme does not have. */
export function chooseSecret(
  { name: webhook, secret, ...sender }: NewWebhook,
  takenNames: ReadonlySet<string>,
  randomBytes: RandomBytes,
): SecretChoice {
  if (secret.kind === 'existing') return { kind: 'existing', name: secret.name };
  const name = secret.name ?? suggestSecretName(webhook, sender.authMode, takenNames);
  if (takenNames.has(name)) {
    throw new Refusal('secret-taken', { detail: `there is a team secret ${name} already` });
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

/** A secret for a sender that takes one of ours. Fails with `request-invalid` where the provider issues it. */
export function generateSecret(sender: Sender, randomBytes: RandomBytes, pointer: string): string {
  if (sender.authMode === 'signature' && !takesSecretOfOurs(sender)) {
    throw mistaken(pointer, 'the provider issues the secret of this scheme: supply it', schemeHint(sender));
  }
  return encodeSecret(descriptionOf(sender), randomBytes(secretRandomBytes));
}

/** The secrets of the token modes are always ours. */
export function requireSupplied({ authMode }: Sender, pointer: string): void {
  if (authMode === 'signature') return;
  throw mistaken(pointer, `the secret of mode ${authMode} is generated`, 'or name an existing team secret');
}

function takesSecretOfOurs(sender: Sender): boolean {
  const { signatureScheme } = sender;
  if (typeof signatureScheme === 'object') return true;
  return isStandard(sender) || findScheme(signatureScheme ?? '')?.secretCommand === 'generate';
}

function isStandard({ signatureScheme }: Sender): boolean {
  return signatureScheme === 'standard-webhooks';
}

function descriptionOf({ signatureScheme }: Sender): SignatureDescription | undefined {
  return signatureScheme === undefined ? undefined : describeScheme(signatureScheme);
}

function schemeHint({ signatureScheme }: Sender): string | undefined {
  const scheme = typeof signatureScheme === 'string' ? findScheme(signatureScheme) : undefined;
  return scheme && `${scheme.provider} shows it here: ${scheme.secretLocation}`;
}

function mistaken(pointer: string, message: string, hint?: string): Refusal {
  return new Refusal('request-invalid', {
    mistakes: [{ pointer, code: 'definition/value', message, hint }],
  });
}
