import type { HmacFields, SignatureDescription, SignatureScheme, SignedDescription } from './description.ts';
import { buildingSchemes } from './schemes/building.ts';
import { customerSchemes } from './schemes/customers.ts';
import { financeSchemes } from './schemes/finance.ts';
import { hostingSchemes } from './schemes/hosting.ts';
import { messagingSchemes } from './schemes/messaging.ts';
import { operationsSchemes } from './schemes/operations.ts';
import { paymentSchemes } from './schemes/payment.ts';
import { platformSchemes } from './schemes/platforms.ts';
import { standardWebhooks } from './schemes/shapes.ts';
import { sourceHostingSchemes } from './schemes/source-hosting.ts';
import { standardSchemes } from './schemes/standard.ts';
import { workSchemes } from './schemes/work.ts';
import { isCredentialName, listCredentialHeaders } from './signature-parts.ts';

/** All supported schemes, in the order of the documentation. */
export const schemes: readonly SignatureScheme[] = [
  ...standardSchemes,
  ...sourceHostingSchemes,
  ...hostingSchemes,
  ...buildingSchemes,
  ...operationsSchemes,
  ...paymentSchemes,
  ...financeSchemes,
  ...workSchemes,
  ...customerSchemes,
  ...messagingSchemes,
  ...platformSchemes,
];

export const schemeIds: readonly string[] = schemes.map(scheme => scheme.id);

/** Other names under which definitions of other services have a scheme, each with its ID. */
export const schemeAliases: Readonly<Record<string, string>> = { standard_webhooks: 'standard-webhooks' };

const schemesById: ReadonlyMap<string, SignatureScheme> = new Map(schemes.map(scheme => [scheme.id, scheme]));

/** Finds the scheme that a `signatureScheme` names; undefined for an unknown ID, and for a custom scheme. */
export function findScheme(reference: string | object | undefined): SignatureScheme | undefined {
  if (typeof reference !== 'string') return undefined;
  return schemesById.get(reference) ?? schemesById.get(schemeAliases[reference] ?? '');
}

/** Describes the scheme that a definition's `signatureScheme` refers to; undefined for an unknown ID. */
export function describeScheme(reference: string | HmacFields): SignatureDescription | undefined {
  return typeof reference === 'string' ? findScheme(reference) : { primitive: 'hmac', ...reference };
}

const credentialHeaders: ReadonlySet<string> = new Set(schemes.flatMap(listCredentialHeaders));

/** Whether the senders of some scheme put their signature or their secret into this header. */
export function isSchemeCredentialHeader(name: string): boolean {
  return credentialHeaders.has(name.toLowerCase());
}

/** The headers with the IDs of deliveries, which are no credentials, whatever their names. */
const idHeaders: ReadonlySet<string> = new Set(
  schemes.flatMap(({ deliveryIdHeader }) => deliveryIdHeader?.toLowerCase() ?? []),
);

/** Whether a request header carries a credential or a signature: of a scheme, or by its name. */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return isSchemeCredentialHeader(name) || (isCredentialName(lower) && !idHeaders.has(lower));
}

/**
 * Whether a sender signs as Standard Webhooks says, under any header names and with any derivation of the key. Such a
 * sender takes a secret that its receiver made.
 */
export function isStandardWebhooks(description: SignatureDescription): boolean {
  if (description.primitive !== 'hmac') return false;
  const { content, list } = description;
  return content === standardWebhooks.content && list?.key === standardWebhooks.list.key;
}

/** Whether no two requests have the same signed content, because it has the time or the ID of each. */
export function isSignedOnce({ timestamp, idHeader }: SignedDescription): boolean {
  return timestamp !== undefined || idHeader !== undefined;
}

/** Names whoever signs with a scheme, at the beginning or within a sentence. Standard Webhooks is a specification, not a provider. */
export function nameSender(
  { id, provider }: Pick<SignatureScheme, 'id' | 'provider'>,
  place: 'first' | 'within' = 'within',
): string {
  if (id !== 'standard-webhooks') return provider;
  return place === 'first' ? 'The sender' : 'the sender';
}
