import type { z } from 'zod';
import type { newWebhookRequest } from '../../schema/api/requests.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import { nameCharsMax, suggestSecretName } from '../../schema/names.ts';
import { splitProvider } from '../text/senders.ts';

type WebhookBody = z.input<typeof newWebhookRequest>;
type SecretBody = NonNullable<WebhookBody['secret']>;
export type SecretKind = SecretBody['kind'];

interface Scheme {
  readonly id: string;
  readonly provider: string;
  readonly secretCommand: 'generate' | 'set' | 'declare';
  readonly blankSecret: 'generated' | 'declared';
}

interface Named {
  readonly name: string;
}

interface Sender {
  readonly authMode: AuthMode;
  readonly signatureScheme: string | object | null;
}

/** Who will deliver: a provider with a signature scheme, or a sender of one's own. */
export interface ChosenSender {
  readonly authMode: AuthMode;
  /** The ID of a scheme; null: the definition describes the signature itself, or there is none. */
  readonly scheme: string | null;
}

/** The fields of the form for a new webhook. */
export interface WebhookDraft {
  readonly sender: ChosenSender;
  /** Undefined means the suggested name. */
  readonly name: string | undefined;
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
  /** Further keys of the definition, as YAML. */
  readonly keys: string;
}

/** What is known when a webhook is created, by which its fields are suggested. */
export interface Known {
  readonly schemes: readonly Scheme[];
  readonly secrets: readonly Named[];
  readonly webhooks: readonly Named[];
}

/** The keys that a sender of one's own needs, for somebody to change. */
const keyTemplates = {
  signature:
    "signatureScheme:\n  header: X-Signature\n  hash: sha256\n  encoding: hex\n  content: '{body}'\n",
  oidc: 'issuer: github-actions\nclaims:\n  repository: [acme/shop]\n',
} as const;

export function createWebhookDraft(sender: ChosenSender): WebhookDraft {
  const { authMode, scheme } = sender;
  const isDescribed = scheme === null && (authMode === 'signature' || authMode === 'oidc');
  return {
    sender,
    name: undefined,
    secretKind: undefined,
    secretName: undefined,
    existingSecret: undefined,
    allowShared: false,
    suppliedValue: '',
    deliveryId: '',
    keepHeaders: '',
    keys: isDescribed ? keyTemplates[authMode] : '',
  };
}

/** Whether the definition itself must say how the sender authenticates. */
export function isDescribed({ authMode, scheme }: ChosenSender): boolean {
  return scheme === null && (authMode === 'signature' || authMode === 'oidc');
}

/** Lists the ways in which the webhook can get its secret, the suggested one first. */
export function listSecretKinds(
  { authMode, scheme: id }: ChosenSender,
  { schemes, secrets }: Pick<Known, 'schemes' | 'secrets'>,
): readonly SecretKind[] {
  const kinds = listPossibleKinds(
    authMode,
    schemes.find(scheme => scheme.id === id),
  );
  return kinds.filter(kind => kind !== 'existing' || secrets.length > 0);
}

function listPossibleKinds(authMode: AuthMode, scheme: Scheme | undefined): readonly SecretKind[] {
  if (authMode === 'oidc') return [];
  if (authMode !== 'signature') return ['generated', 'existing'];
  if (!scheme || scheme.blankSecret === 'generated') return ['generated', 'supplied', 'existing'];
  switch (scheme.secretCommand) {
    case 'generate':
      return ['generated', 'supplied', 'existing', 'blank'];
    case 'set':
      return ['supplied', 'blank', 'existing'];
    case 'declare':
      return ['blank', 'supplied', 'existing'];
  }
}

export function getSecretKind(draft: WebhookDraft, known: Known): SecretKind | undefined {
  return draft.secretKind ?? listSecretKinds(draft.sender, known)[0];
}

/** The name that the form has, or a free one after the provider. */
export function getName(draft: WebhookDraft, { schemes, webhooks }: Known): string {
  if (draft.name !== undefined) return draft.name;
  const scheme = schemes.find(({ id }) => id === draft.sender.scheme);
  if (!scheme) return '';
  const [provider] = splitProvider(scheme.provider);
  const words = provider
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const base = words.split('-').length > 2 || words === '' ? scheme.id : words;
  const taken = new Set(webhooks.map(({ name }) => name));
  let name = base.slice(0, nameCharsMax);
  for (let count = 2; taken.has(name); count++) name = `${base}-${count}`;
  return name;
}

export function getSecretName(draft: WebhookDraft, known: Known): string {
  const taken = new Set(known.secrets.map(({ name }) => name));
  return (
    draft.secretName ?? suggestSecretName(getName(draft, known) || 'webhook', draft.sender.authMode, taken)
  );
}

/** Builds the request body that creates the webhook. `keys` are the further ones, parsed. */
export function buildWebhookBody(draft: WebhookDraft, known: Known, keys: object): WebhookBody {
  const { authMode, scheme } = draft.sender;
  const deliveryId = draft.deliveryId.trim();
  const keepHeaders = draft.keepHeaders.split(/[\s,]+/).filter(name => name !== '');
  const secret = buildSecretBody(draft, known);
  return {
    ...keys,
    name: getName(draft, known).trim(),
    authMode,
    ...(scheme !== null && { signatureScheme: scheme }),
    ...(deliveryId !== '' &&
      (deliveryId.startsWith('$') ? { deliveryIdField: deliveryId } : { deliveryIdHeader: deliveryId })),
    ...(keepHeaders.length > 0 && { keepHeaders }),
    ...(secret && { secret }),
  };
}

function buildSecretBody(draft: WebhookDraft, known: Known): SecretBody | undefined {
  const kind = getSecretKind(draft, known);
  // Otherwise the server chooses the name: other factories may have a team secret with the suggested one.
  const name = draft.secretName !== undefined && { name: draft.secretName };
  switch (kind) {
    case undefined:
      return undefined;
    case 'existing':
      return {
        kind,
        name: draft.existingSecret ?? known.secrets[0]?.name ?? '',
        allowShared: draft.allowShared,
      };
    case 'supplied':
      return { kind, ...name, value: draft.suppliedValue.trim() };
    case 'generated':
    case 'blank':
      return { kind, ...name };
  }
}

/** Whether the daemon can generate the secret, because the sender takes any value. */
export function canGenerateSecret(webhook: Sender, schemes: readonly Scheme[]): boolean {
  const { authMode, signatureScheme } = webhook;
  if (authMode !== 'signature' || typeof signatureScheme === 'object') return true;
  const scheme = schemes.find(({ id }) => id === signatureScheme);
  return scheme?.blankSecret === 'generated' || scheme?.secretCommand === 'generate';
}
