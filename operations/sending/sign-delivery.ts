import type { SchemeReference } from '../../schema/definitions/custom-scheme.ts';
import { type FormattedWebhook, findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import { makeForm, notForm, readFormPayload } from '../../schema/payloads/form-payload.ts';
import { findTokenPlace, type TokenKeys } from '../../schema/token-place.ts';
import type { SignatureDescription } from '../../signatures/description.ts';
import { describeScheme, findScheme } from '../../signatures/schemes.ts';
import { addressBody, signRequest } from '../../signatures/sign.ts';

/** The header in which a sender gives an ID if neither the webhook nor its signature scheme has another one. */
export const serviceIdHeader = 'X-Service-Delivery-Id';

/** The event to send: the body, and the ID that its sender gives to it. */
export interface SentEvent {
  readonly body: Buffer;
  readonly id: string;
  /** Whether the ID is sent in any case, also by senders that give none. */
  readonly isIdGiven: boolean;
}

/** A body in the format that its receiver expects. */
export interface SentBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** A delivery as a sender posts it. */
export interface SignedDelivery {
  /** Has the token of a `url_token` webhook: never print or log it. */
  readonly url: string;
  readonly body: SentBody;
  /** Values by name. A later name replaces an earlier one that differs only in case. */
  readonly headers: readonly (readonly [string, string])[];
  /** The fields of the body that identify the delivery, if the webhook or its signature scheme names some. */
  readonly idField?: string | readonly string[] | undefined;
}

/** The keys of a webhook that decide how its senders deliver. */
interface ReceivingWebhook extends FormattedWebhook, TokenKeys {
  readonly authMode: AuthMode;
  readonly signatureScheme?: SchemeReference | undefined;
  readonly deliveryIdHeader?: string | undefined;
  readonly deliveryIdField?: string | readonly string[] | undefined;
}

/** Makes the body of a request. A receiver of forms gets JSON as a form; anything else is sent as it is. Undefined if it does not fit. */
export function makeBody(bytes: Buffer, webhook: FormattedWebhook): SentBody | undefined {
  const format = findFormFormat(webhook);
  if (!format) return { bytes, contentType: 'application/json' };
  const contentType = 'application/x-www-form-urlencoded';
  const read = readFormPayload(bytes, format);
  if (read.ok || read.problem !== notForm) return { bytes, contentType };
  const form = makeForm(bytes.toString(), format);
  return form === undefined ? undefined : { bytes: Buffer.from(form), contentType };
}

/**
 * Makes a delivery with the credential of a webhook. `url` is the ingress URL as senders know it; the request may be posted
 * elsewhere. Throws a TypeError if the secret cannot sign, if the signature scheme is unknown, or if an
 * issuer authenticates the senders.
 */
export function signDelivery(
  webhook: ReceivingWebhook,
  secret: string,
  { url, body }: Pick<SignedDelivery, 'url' | 'body'>,
  event: SentEvent,
  nowMs: number,
): SignedDelivery {
  const { authMode, deliveryIdHeader, deliveryIdField: idField, signatureScheme } = webhook;
  if (authMode === 'oidc') throw new TypeError('its senders authenticate with tokens of an issuer');
  if (authMode !== 'signature') {
    const identity = [deliveryIdHeader ?? serviceIdHeader, event.id] as const;
    if (authMode === 'url_token')
      return { url: url.replace('{token}', () => secret), body, headers: [identity], idField };
    return { url, body, headers: [identity, makeTokenHeader(webhook, secret)], idField };
  }
  const description = signatureScheme && describeScheme(signatureScheme);
  if (!description) throw new TypeError('the webhook has no known signature scheme');
  const field = findScheme(signatureScheme)?.bodyIdentity?.field;
  const signed = signByDescription(description, secret, { url, body }, event, { deliveryIdHeader, nowMs });
  return { ...signed, idField: deliveryIdHeader === undefined ? (idField ?? field) : undefined };
}

function makeTokenHeader(webhook: TokenKeys, secret: string): readonly [string, string] {
  const { header, prefix } = findTokenPlace(webhook);
  if (webhook.tokenScheme !== 'basic') return [header, prefix + secret];
  return [header, prefix + Buffer.from(`${webhook.tokenUser}:${secret}`).toString('base64')];
}

/**
 * Makes the headers of a scheme's sender: with an ID only if that sender gives one, or if it is sent in any case. Throws a
 * TypeError if the secret cannot sign.
 */
export function signByDescription(
  description: SignatureDescription,
  secret: string,
  request: Pick<SignedDelivery, 'url' | 'body'>,
  { id, isIdGiven }: SentEvent,
  { deliveryIdHeader, nowMs }: { readonly deliveryIdHeader?: string | undefined; readonly nowMs: number },
): SignedDelivery {
  const ownHeader =
    ('idHeader' in description && description.idHeader) || description.deliveryIdHeader || undefined;
  const header = deliveryIdHeader ?? (isIdGiven && ownHeader === undefined ? serviceIdHeader : undefined);
  const { bytes: body, contentType } = request.body;
  const url = addressBody(description, request.url, contentType === 'application/json' ? body : undefined);
  const signed = Object.entries(signRequest(description, secret, { body, url, method: 'POST', nowMs, id }));
  return { url, body: request.body, headers: header === undefined ? signed : [[header, id], ...signed] };
}
