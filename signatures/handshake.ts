import { createHmac } from 'node:crypto';
import { readJson } from '../json/parse-json-text.ts';
import { type Handshake, tokenHandshakes } from './description.ts';
import { joinContent } from './matcher.ts';
import { type ContentPieces, readSingleHeader, type SignedRequest } from './signed-request.ts';

/** The response that a provider requires before it delivers. A handshake is not a delivery and starts no run. */
export interface HandshakeAnswer {
  readonly status: 200 | 204;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The header that tells the sender how many deliveries a minute the webhook accepts, if it asks for that. */
  readonly rateHeader?: string;
}

/** The handshake that a definition names: its ID, or CloudEvents with the origin that may deliver. */
export type HandshakeKey = string | { readonly cloudevents: string };

/** Reads the handshake that a definition names. Ignores one that only another version knows. */
export function readHandshakeKey(key: HandshakeKey | undefined): AgreedHandshake {
  if (typeof key === 'object') return { handshake: 'cloudevents', origin: key.cloudevents };
  return { handshake: tokenHandshakes.find(handshake => handshake === key) };
}

/** The handshake of a scheme or a definition, with the origin that the definition allows to deliver. */
export interface AgreedHandshake {
  readonly handshake?: Handshake | undefined;
  readonly origin?: string | undefined;
}

/** The method of the provider's handshake. The ingress otherwise refuses all but POST. */
export function getHandshakeMethod({
  handshake,
}: Pick<AgreedHandshake, 'handshake'>): HandshakeMethod | undefined {
  return handshake && handshakes[handshake].method;
}

type HandshakeMethod = 'GET' | 'HEAD' | 'OPTIONS' | 'POST';

/**
 * Answers a handshake. Undefined for any other request, and for an unverified one if the provider signs its
 * handshakes. `secret` may be empty, because some providers send the handshake before they issue a secret; an answer
 * that depends on the secret is then undefined.
 */
export function answerHandshake(
  { handshake, origin }: AgreedHandshake,
  request: SignedRequest,
  secret: string,
  verified: boolean,
): HandshakeAnswer | undefined {
  if (!handshake) return undefined;
  const { method, signed, answer } = handshakes[handshake];
  if (request.method !== method || (signed && !verified)) return undefined;
  return answer(request, secret, origin);
}

/**
 * Says whether a handshake signs this content for anyone who asks. Its answer is then also a valid signature of a
 * delivery with that content, so the signature does not prove who sent it.
 */
export function isSignedForAnyone(
  { handshake }: Pick<AgreedHandshake, 'handshake'>,
  content: ContentPieces,
): boolean {
  if (!handshake || !handshakes[handshake].signs) return false;
  const length = content.reduce((sum, piece) => sum + piece.length, 0);
  return length <= challengeCharactersMax && isSignable(joinContent(content).toString('latin1'));
}

interface HandshakeRule {
  readonly method: HandshakeMethod;
  /** The provider signs its handshake as it signs deliveries, or sends the token of deliveries with it. */
  readonly signed: boolean;
  /** The answer contains a signature over the challenge, made with the secret that verifies deliveries. */
  readonly signs?: true;
  readonly answer: (
    request: SignedRequest,
    secret: string,
    origin: string | undefined,
  ) => HandshakeAnswer | undefined;
}

const handshakes: Readonly<Record<Handshake, HandshakeRule>> = {
  // https://developers.asana.com/docs/webhooks-guide: the answer returns the header that contains the new secret.
  asana: {
    method: 'POST',
    signed: false,
    answer: ({ headers }) => {
      const secret = parseChallenge(readSingleHeader(headers, 'x-hook-secret'));
      return secret === undefined
        ? undefined
        : { status: 200, headers: { 'X-Hook-Secret': secret }, body: '' };
    },
  },
  // https://docs.discord.com/developers/events/webhook-events: type 0 is a PING.
  discord: {
    method: 'POST',
    signed: true,
    answer: ({ body }) =>
      parseMessage(body)?.type === 0 ? { status: 204, headers: {}, body: '' } : undefined,
  },
  // https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md, section 4. The URL may contain the
  // token; a bearer token need not come with the question, and the answer says nothing that the definition keeps secret.
  cloudevents: {
    method: 'OPTIONS',
    signed: false,
    answer: ({ headers }, _, origin) =>
      origin !== undefined && readSingleHeader(headers, 'webhook-request-origin') === origin
        ? {
            status: 200,
            headers: { Allow: 'OPTIONS, POST', 'WebHook-Allowed-Origin': origin },
            body: '',
            rateHeader: 'WebHook-Allowed-Rate',
          }
        : undefined,
  },
  // https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema
  'event-grid': {
    method: 'POST',
    signed: true,
    answer: ({ headers, body }) => {
      if (readSingleHeader(headers, 'aeg-event-type') !== 'SubscriptionValidation') return undefined;
      // The body is a list of one event.
      const { eventType, data } = toRecord(parseMessage(body)?.[0]) ?? {};
      if (eventType !== 'Microsoft.EventGrid.SubscriptionValidationEvent') return undefined;
      const validationResponse = parseChallenge(toRecord(data)?.validationCode);
      return validationResponse === undefined ? undefined : answerJson({ validationResponse });
    },
  },
  // https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks, "Notification endpoint validation"
  'microsoft-graph': {
    method: 'POST',
    signed: true,
    // SharePoint and OneDrive send validationtoken.
    answer: ({ url }) => answerText(parseOpaqueText(readParameter(url, /^validationtoken$/i))),
  },
  // https://www.dropbox.com/developers/reference/webhooks
  dropbox: {
    method: 'GET',
    signed: false,
    answer: ({ url }) => answerText(parseChallenge(readParameter(url, 'challenge'))),
  },
  // https://mandrill.zendesk.com/hc/en-us/articles/360038740014: after another answer, Mandrill posts with a key that all know.
  mandrill: { method: 'HEAD', signed: false, answer: () => ({ status: 200, headers: {}, body: '' }) },
  // https://developers.facebook.com/docs/graph-api/webhooks/getting-started. The verify token is not checked,
  // because whoever registers the URL still cannot sign deliveries.
  meta: {
    method: 'GET',
    signed: false,
    answer: ({ url }) =>
      readParameter(url, 'hub.mode') === 'subscribe'
        ? answerText(parseChallenge(readParameter(url, 'hub.challenge')))
        : undefined,
  },
  // https://developer.okta.com/docs/concepts/event-hooks/
  okta: {
    method: 'GET',
    signed: false,
    answer: ({ headers }) => {
      const verification = parseChallenge(readSingleHeader(headers, 'x-okta-verification-challenge'));
      return verification === undefined ? undefined : answerJson({ verification });
    },
  },
  // https://docs.slack.dev/reference/events/url_verification/
  slack: {
    method: 'POST',
    signed: true,
    answer: ({ body }) => {
      const message = parseMessage(body);
      return message?.type === 'url_verification' ? answerText(parseChallenge(message.challenge)) : undefined;
    },
  },
  // https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks, "Creating a webhook"
  trello: { method: 'HEAD', signed: false, answer: () => ({ status: 200, headers: {}, body: '' }) },
  // https://dev.twitch.tv/docs/eventsub/handling-webhook-events/: a header distinguishes it from an event.
  twitch: {
    method: 'POST',
    signed: true,
    answer: ({ headers, body }) =>
      readSingleHeader(headers, 'twitch-eventsub-message-type') === 'webhook_callback_verification'
        ? answerText(parseChallenge(parseMessage(body)?.challenge))
        : undefined,
  },
  // `deliver_ping` in WooCommerce's class-wc-webhook.php posts a form without a signature.
  woocommerce: {
    method: 'POST',
    signed: false,
    answer: ({ body }) =>
      /^webhook_id=\d{1,20}$/.test(body.subarray(0, pingBytesMax + 1).toString('latin1'))
        ? { status: 200, headers: {}, body: '' }
        : undefined,
  },
  // https://docs.x.com/x-api/webhooks/introduction, "CRC check"
  x: {
    method: 'GET',
    signed: false,
    signs: true,
    answer: ({ url }, secret) => {
      const token = parseSignable(readParameter(url, 'crc_token'));
      if (token === undefined || secret === '') return undefined;
      const mac = createHmac('sha256', secret).update(token).digest('base64');
      return answerJson({ response_token: `sha256=${mac}` });
    },
  },
  // https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
  zoom: {
    method: 'POST',
    signed: true,
    signs: true,
    answer: ({ body }, secret) => {
      const message = parseMessage(body);
      if (message?.event !== 'endpoint.url_validation') return undefined;
      const plainToken = parseSignable(toRecord(message.payload)?.plainToken);
      if (plainToken === undefined) return undefined;
      const encryptedToken = createHmac('sha256', secret).update(plainToken).digest('hex');
      return answerJson({ plainToken, encryptedToken });
    },
  },
};

function answerText(body: string | undefined): HandshakeAnswer | undefined {
  return body === undefined
    ? undefined
    : { status: 200, headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' }, body };
}

function answerJson(body: Readonly<Record<string, string>>): HandshakeAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** @limit Longest body that is read as the ping of WooCommerce, in bytes: a ping is the name of a field and a number. */
const pingBytesMax = 64;

/** @limit Longest challenge that is sent back to a provider, in characters: providers' challenges are much shorter. */
const challengeCharactersMax = 512;

/** Parses a challenge that is safe to send back: short and without markup, spaces or control characters. */
function parseChallenge(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > challengeCharactersMax) return undefined;
  return /^[0-9A-Za-z+/=._~-]+$/.test(value) ? value : undefined;
}

/** Parses a challenge that may contain spaces and punctuation, but nothing of which a browser makes markup or code. */
function parseOpaqueText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > challengeCharactersMax) return undefined;
  return /^[0-9A-Za-z +/=._~:;,()[\]{}|@!?#$%^*-]+$/.test(value) ? value : undefined;
}

/** Parses a challenge whose signature cannot be valid for a delivery. */
function parseSignable(value: unknown): string | undefined {
  const challenge = parseChallenge(value);
  return challenge !== undefined && isSignable(challenge) ? challenge : undefined;
}

/**
 * Says whether a handshake may sign this text. Providers send base64, base64url or words. Without dots and colons, the
 * text cannot be a timestamp that is joined to a body; and a body that is JSON is never signed.
 */
function isSignable(text: string): boolean {
  return /^[0-9A-Za-z+/=_-]+$/.test(text) && readJson(text) === undefined;
}

function readParameter(url: string, name: string | RegExp): string | undefined {
  const all = [...(URL.parse(url)?.searchParams ?? [])];
  const named = all.filter(([other]) => (typeof name === 'string' ? other === name : name.test(other)));
  return named.length === 1 ? named[0]?.[1] : undefined;
}

/** @limit Largest body that is parsed as a handshake, in bytes: handshakes have a few hundred, so most deliveries are not searched for one. */
const handshakeBytesMax = 4096;

function parseMessage(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  return body.length > handshakeBytesMax ? undefined : toRecord(readJson(body.toString()));
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
