import type { z } from 'zod';
import type { newWebhookRequest } from '../../schema/api/requests.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import { suggestSecretName } from '../../schema/secret-name.ts';

type WebhookBody = z.input<typeof newWebhookRequest>;
type SecretBody = NonNullable<WebhookBody['secret']>;
export type SecretKind = SecretBody['kind'];

interface Scheme {
  readonly id: string;
  readonly secretCommand: 'generate' | 'set' | 'declare';
  readonly blankSecret: 'generated' | 'declared';
}

interface Secret {
  readonly name: string;
}

interface Sender {
  readonly authMode: AuthMode;
  readonly signatureScheme: string | object | null;
}

/** The fields of the form for a new webhook. */
export interface WebhookDraft {
  readonly name: string;
  readonly authMode: AuthMode;
  readonly scheme: string | undefined;
  /** Undefined means the suggested kind. */
  readonly secretKind: SecretKind | undefined;
  /** Undefined means the suggested name. */
  readonly secretName: string | undefined;
  readonly existingSecret: string | undefined;
  /** Whether the existing secret may have another use. */
  readonly allowShared: boolean;
  readonly suppliedValue: string;
  /** The name of a header, or the path of a field: `$.id`. */
  readonly deliveryId: string;
  /** Names of headers, separated by commas or white space. */
  readonly keepHeaders: string;
}

export const emptyWebhookDraft: WebhookDraft = {
  name: '',
  authMode: 'token',
  scheme: undefined,
  secretKind: undefined,
  secretName: undefined,
  existingSecret: undefined,
  allowShared: false,
  suppliedValue: '',
  deliveryId: '',
  keepHeaders: '',
};

/** Lists the ways in which the webhook can get its secret, the suggested one first. */
export function listSecretKinds(draft: WebhookDraft, schemes: readonly Scheme[]): readonly SecretKind[] {
  if (draft.authMode !== 'signature') return ['generated', 'existing'];
  const scheme = schemes.find(({ id }) => id === draft.scheme);
  if (scheme?.blankSecret === 'generated') return ['generated', 'supplied', 'existing'];
  switch (scheme?.secretCommand) {
    case 'generate':
      return ['generated', 'supplied', 'existing', 'blank'];
    case 'set':
      return ['supplied', 'blank', 'existing'];
    default:
      return ['blank', 'supplied', 'existing'];
  }
}

export function getSecretKind(draft: WebhookDraft, schemes: readonly Scheme[]): SecretKind {
  const [suggested = 'generated'] = listSecretKinds(draft, schemes);
  return draft.secretKind ?? suggested;
}

export function getSecretName(draft: WebhookDraft, secrets: readonly Secret[]): string {
  const taken = new Set(secrets.map(({ name }) => name));
  return draft.secretName ?? suggestSecretName(draft.name || 'webhook', draft.authMode, taken);
}

/** Builds the request body that creates the webhook. */
export function buildWebhookBody(
  draft: WebhookDraft,
  schemes: readonly Scheme[],
  secrets: readonly Secret[],
): WebhookBody {
  const deliveryId = draft.deliveryId.trim();
  const keepHeaders = draft.keepHeaders.split(/[\s,]+/).filter(name => name !== '');
  return {
    name: draft.name.trim(),
    authMode: draft.authMode,
    ...(draft.authMode === 'signature' && { signatureScheme: draft.scheme }),
    ...(deliveryId !== '' &&
      (deliveryId.startsWith('$') ? { deliveryIdField: deliveryId } : { deliveryIdHeader: deliveryId })),
    ...(keepHeaders.length > 0 && { keepHeaders }),
    secret: buildSecretBody(draft, schemes, secrets),
  };
}

function buildSecretBody(
  draft: WebhookDraft,
  schemes: readonly Scheme[],
  secrets: readonly Secret[],
): SecretBody {
  const kind = getSecretKind(draft, schemes);
  const name = getSecretName(draft, secrets);
  switch (kind) {
    case 'existing':
      return {
        kind,
        name: draft.existingSecret ?? secrets[0]?.name ?? '',
        allowShared: draft.allowShared,
      };
    case 'supplied':
      return { kind, name, value: draft.suppliedValue.trim() };
    case 'generated':
    case 'blank':
      return { kind, name };
  }
}

/** Whether the daemon can generate the secret, because the sender takes any value. */
export function canGenerateSecret(webhook: Sender, schemes: readonly Scheme[]): boolean {
  const { authMode, signatureScheme } = webhook;
  if (authMode !== 'signature' || typeof signatureScheme === 'object') return true;
  const scheme = schemes.find(({ id }) => id === signatureScheme);
  return scheme?.blankSecret === 'generated' || scheme?.secretCommand === 'generate';
}
