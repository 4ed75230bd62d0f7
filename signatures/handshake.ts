import { createHmac } from 'node:crypto';
import type { Handshake, SignatureScheme } from './description.ts';
import { singleHeader } from './signed-parts.ts';
import type { SignedRequest } from './verify.ts';

/** What a provider wants to hear before it delivers. It is no delivery: it starts nothing. */
export interface HandshakeAnswer {
  readonly status: 200 | 204;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Whether the provider asks by GET: only then is the ingress more than POST. */
export function hasGetHandshake({ handshake }: Pick<SignatureScheme, 'handshake'>): boolean {
  return handshake !== undefined && handshakes[handshake].method === 'GET';
}

/**
 * The answer to a handshake; undefined if the request is none, or is unverified where the provider signs it. Some
 * providers ask before there is a secret; where the answer takes one, an empty one answers nothing.
 */
export function answerHandshake(
  { handshake }: Pick<SignatureScheme, 'handshake'>,
  request: SignedRequest,
  secret: string,
  verified: boolean,
): HandshakeAnswer | undefined {
  if (!handshake) return undefined;
  const { method, signed, answer } = handshakes[handshake];
  if (request.method !== method || (signed && !verified)) return undefined;
  return answer(request, secret);
}

interface HandshakeRule {
  readonly method: 'GET' | 'POST';
  /** The provider signs its question like any delivery. */
  readonly signed: boolean;
  readonly answer: (request: SignedRequest, secret: string) => HandshakeAnswer | undefined;
}

const handshakes: Readonly<Record<Handshake, HandshakeRule>> = {
  // https://developers.asana.com/docs/webhooks-guide: the secret to come stands in a header, which is sent back.
  asana: {
    method: 'POST',
    signed: false,
    answer: ({ headers }) => {
      const secret = challengeOf(singleHeader(headers, 'x-hook-secret'));
      return secret === undefined
        ? undefined
        : { status: 200, headers: { 'X-Hook-Secret': secret }, body: '' };
    },
  },
  // https://docs.discord.com/developers/events/webhook-events: a PING is of type 0.
  discord: {
    method: 'POST',
    signed: true,
    answer: ({ body }) => (messageOf(body)?.type === 0 ? { status: 204, headers: {}, body: '' } : undefined),
  },
  // https://www.dropbox.com/developers/reference/webhooks
  dropbox: {
    method: 'GET',
    signed: false,
    answer: ({ url }) => text(challengeOf(parameter(url, 'challenge'))),
  },
  // https://developers.facebook.com/docs/graph-api/webhooks/getting-started. The verify token is not compared:
  // whoever has a URL registered still cannot sign for it.
  meta: {
    method: 'GET',
    signed: false,
    answer: ({ url }) =>
      parameter(url, 'hub.mode') === 'subscribe'
        ? text(challengeOf(parameter(url, 'hub.challenge')))
        : undefined,
  },
  // https://developer.okta.com/docs/concepts/event-hooks/
  okta: {
    method: 'GET',
    signed: false,
    answer: ({ headers }) => {
      const verification = challengeOf(singleHeader(headers, 'x-okta-verification-challenge'));
      return verification === undefined ? undefined : json({ verification });
    },
  },
  // https://docs.slack.dev/reference/events/url_verification/
  slack: {
    method: 'POST',
    signed: true,
    answer: ({ body }) => {
      const message = messageOf(body);
      return message?.type === 'url_verification' ? text(challengeOf(message.challenge)) : undefined;
    },
  },
  // https://dev.twitch.tv/docs/eventsub/handling-webhook-events/: a header tells it from an event.
  twitch: {
    method: 'POST',
    signed: true,
    answer: ({ headers, body }) =>
      singleHeader(headers, 'twitch-eventsub-message-type') === 'webhook_callback_verification'
        ? text(challengeOf(messageOf(body)?.challenge))
        : undefined,
  },
  // https://docs.x.com/x-api/webhooks/introduction, "CRC check"
  x: {
    method: 'GET',
    signed: false,
    answer: ({ url }, secret) => {
      const token = challengeOf(parameter(url, 'crc_token'));
      // The answer to an unsigned question signs the token as it would sign a body: never one that could be a body.
      if (!token || secret === '' || isJson(token)) return undefined;
      const mac = createHmac('sha256', secret).update(token).digest('base64');
      return json({ response_token: `sha256=${mac}` });
    },
  },
  // https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
  zoom: {
    method: 'POST',
    signed: true,
    answer: ({ body }, secret) => {
      const message = messageOf(body);
      if (message?.event !== 'endpoint.url_validation') return undefined;
      const plainToken = challengeOf(objectOf(message.payload)?.plainToken);
      if (!plainToken) return undefined;
      const encryptedToken = createHmac('sha256', secret).update(plainToken).digest('hex');
      return json({ plainToken, encryptedToken });
    },
  },
};

function text(body: string | undefined): HandshakeAnswer | undefined {
  return body === undefined
    ? undefined
    : { status: 200, headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' }, body };
}

function json(body: Readonly<Record<string, string>>): HandshakeAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** A challenge that is safe to send back: providers' are short and without markup, spaces or control characters. */
function challengeOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9A-Za-z+/=._~-]{1,512}$/.test(value) ? value : undefined;
}

function parameter(url: string, name: string): string | undefined {
  const values = URL.parse(url)?.searchParams.getAll(name) ?? [];
  return values.length === 1 ? values[0] : undefined;
}

// Handshakes are a few hundred bytes: deliveries, which are mostly longer, are not parsed for this.
const messageBytesMax = 4096;

function messageOf(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (body.length > messageBytesMax) return undefined;
  try {
    return objectOf(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
