import type { SignatureDescription, SignatureScheme } from './description.ts';
import { standardWebhooks } from './schemes/shapes.ts';

/**
 * Whether a sender signs as Standard Webhooks says, under any header names and with any derivation of the key. Such a
 * sender takes a secret that its receiver made.
 */
export function isStandardWebhooks(description: SignatureDescription): boolean {
  if (description.primitive !== 'hmac') return false;
  const { content, list } = description;
  return content === standardWebhooks.content && list?.key === standardWebhooks.list.key;
}

/** Names whoever signs with a scheme, at the beginning or within a sentence. Standard Webhooks is a specification, not a provider. */
export function nameSender(
  { id, provider }: Pick<SignatureScheme, 'id' | 'provider'>,
  place: 'first' | 'within' = 'within',
): string {
  if (id !== 'standard-webhooks') return provider;
  return place === 'first' ? 'The sender' : 'the sender';
}
