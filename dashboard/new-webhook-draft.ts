import type { z } from 'zod';
import type { newWebhookRequest } from '../schema/api/requests.ts';
import { suggestSecretName } from '../schema/secret-name.ts';
import type { Scheme, Secret, Webhook } from './api-types.ts';

type Request = z.input<typeof newWebhookRequest>;
export type SecretKind = NonNullable<Request['secret']>['kind'];

/** What the form for a new webhook holds. */
export interface WebhookDraft {
  readonly name: string;
  readonly authMode: Webhook['authMode'];
  readonly scheme: string | undefined;
  /** undefined: what the sender suggests. */
  readonly secretKind: SecretKind | undefined;
  /** undefined: as suggested, after the webhook. */
  readonly secretName: string | undefined;
  readonly existingSecret: string | undefined;
  readonly suppliedValue: string;
  readonly deliveryIdHeader: string;
}

export const emptyDraft: WebhookDraft = {
  name: '',
  authMode: 'token',
  scheme: undefined,
  secretKind: undefined,
  secretName: undefined,
  existingSecret: undefined,
  suppliedValue: '',
  deliveryIdHeader: '',
};

/** The ways in which the webhook can get its secret, the one to suggest first. */
export function secretKindsOf(draft: WebhookDraft, schemes: readonly Scheme[]): readonly SecretKind[] {
  if (draft.authMode !== 'signature') return ['generated', 'existing'];
  if (draft.scheme === 'standard-webhooks') return ['generated', 'supplied', 'existing'];
  switch (schemes.find(({ id }) => id === draft.scheme)?.secretCommand) {
    case 'generate':
      return ['generated', 'supplied', 'existing', 'blank'];
    case 'set':
      return ['supplied', 'blank', 'existing'];
    default:
      return ['blank', 'supplied', 'existing'];
  }
}

export function secretKindOf(draft: WebhookDraft, schemes: readonly Scheme[]): SecretKind {
  const [suggested = 'generated'] = secretKindsOf(draft, schemes);
  return draft.secretKind ?? suggested;
}

export function secretNameOf(draft: WebhookDraft, secrets: readonly Secret[]): string {
  const taken = new Set(secrets.map(({ name }) => name));
  return draft.secretName ?? suggestSecretName(draft.name || 'webhook', draft.authMode, taken);
}

/** The request that creates the webhook. */
export function requestOf(
  draft: WebhookDraft,
  schemes: readonly Scheme[],
  secrets: readonly Secret[],
): Request {
  const deliveryIdHeader = draft.deliveryIdHeader.trim();
  return {
    name: draft.name.trim(),
    authMode: draft.authMode,
    ...(draft.authMode === 'signature' && { signatureScheme: draft.scheme }),
    ...(deliveryIdHeader !== '' && { deliveryIdHeader }),
    secret: secretOf(draft, schemes, secrets),
  };
}

function secretOf(
  draft: WebhookDraft,
  schemes: readonly Scheme[],
  secrets: readonly Secret[],
): NonNullable<Request['secret']> {
  const kind = secretKindOf(draft, schemes);
  const name = secretNameOf(draft, secrets);
  switch (kind) {
    case 'existing':
      return { kind, name: draft.existingSecret ?? secrets[0]?.name ?? '' };
    case 'supplied':
      return { kind, name, value: draft.suppliedValue.trim() };
    case 'generated':
    case 'blank':
      return { kind, name };
  }
}
