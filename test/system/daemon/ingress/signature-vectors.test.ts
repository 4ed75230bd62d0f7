import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemes } from '../../../../signatures/schemes.ts';
import { send, successStatusOf } from '../../../support/http.ts';
import {
  type InProcessDaemon,
  type InProcessWebhook,
  startInProcessDaemon,
} from '../../../support/in-process-daemon.ts';
import { getScheme, nowMs, type Vector, vectors } from '../../../unit/signatures/received.ts';

// The public URL of an ingress has its own path: where the URL is signed, another test signs for it.
const sendable = vectors.filter(vector => vector.url === undefined);
const keyOf = ({ scheme, secret }: Pick<Vector, 'scheme' | 'secret'>) => `${scheme} ${secret}`;
const senders = [...new Map(sendable.map(vector => [keyOf(vector), vector])).values()];

const baseUrl = 'https://hooks.example.com';
const urlSecret = 'a secret of thirty-two bytes, ok';
const urlSigning = ['square', 'hubspot', 'contentful', 'trello', 'appwrite', 'twilio', 'mandrill'] as const;

let daemon: InProcessDaemon;
beforeAll(async () => {
  const given = [
    ...senders.map(({ scheme, secret }) => ({ scheme, secret })),
    ...urlSigning.map(scheme => ({ scheme, secret: urlSecret })),
  ];
  daemon = await startInProcessDaemon(given, { baseUrl });
});
afterAll(() => daemon.stop());

test('every shipped scheme takes part', () => {
  const taken = new Set([...senders.map(({ scheme }) => scheme), ...urlSigning]);
  expect([...taken].sort()).toEqual(schemes.map(({ id }) => id).sort());
});

describe('over HTTP, a vector', () => {
  test.each(sendable.map((vector, index) => ({ ...vector, index })))(
    'of $scheme: $valid for $origin ($index)',
    async vector => {
      const webhook = daemon.webhooks[senders.findIndex(sender => keyOf(sender) === keyOf(vector))];
      daemon.clock.nowMs = vector.nowMs ?? nowMs;
      const { headers, body } = vector;
      const answer = await send(webhook?.url ?? '', { headers, body });
      // A signature covers any bytes; only then are they asked to be JSON, or a form.
      const isExpected = getScheme(vector.scheme).bodyFormat === 'form' || isJson(body);
      expect(answer.status).toBe(!vector.valid ? 401 : isExpected ? successStatusOf(vector.scheme) : 400);
    },
  );
});

/** As each provider's page has it, over the URL that the sender has on file. */
const signUrl: Readonly<
  Record<(typeof urlSigning)[number], (url: string, body: string) => Record<string, string>>
> = {
  // https://developer.squareup.com/docs/webhooks/step3validate
  square: (url, body) => ({ 'x-square-hmacsha256-signature': hmac(`${url}${body}`, 'base64') }),
  // https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests, version 3
  hubspot: (url, body) => ({
    'X-HubSpot-Signature-v3': hmac(`POST${url}${body}${nowMs}`, 'base64'),
    'X-HubSpot-Request-Timestamp': String(nowMs),
  }),
  // https://www.contentful.com/developers/docs/webhooks/request-verification/; @contentful/node-apps-toolkit escapes
  // the query as one text, and then the whole path once more.
  contentful: (url, body) => {
    const list = 'x-contentful-signed-headers,x-contentful-timestamp';
    const { pathname, search } = new URL(url);
    const path = search ? encodeURI(`${pathname}?${encodeURIComponent(search.slice(1))}`) : pathname;
    const signed = `x-contentful-signed-headers:${list};x-contentful-timestamp:${nowMs}`;
    return {
      'X-Contentful-Signed-Headers': list,
      'X-Contentful-Timestamp': String(nowMs),
      'X-Contentful-Signature': hmac(['POST', path, signed, body].join('\n'), 'hex'),
    };
  },
  // https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks
  trello: (url, body) => ({ 'X-Trello-Webhook': hmac(`${body}${url}`, 'base64', 'sha1') }),
  // Appwrite's src/Appwrite/Platform/Workers/Webhooks.php
  appwrite: (url, body) => ({ 'X-Appwrite-Webhook-Signature': hmac(`${url}${body}`, 'base64', 'sha1') }),
  // https://www.twilio.com/docs/usage/security#validating-requests
  twilio: url => ({ 'X-Twilio-Signature': hmac(`${url}nameZoë`, 'base64', 'sha1') }),
  // https://mandrill.zendesk.com/hc/en-us/articles/360039232513-How-to-Authenticate-Webhook-Requests
  mandrill: url => ({ 'X-Mandrill-Signature': hmac(`${url}mandrill_events["Zoë"]`, 'base64', 'sha1') }),
};

describe.each(urlSigning)('%s', scheme => {
  const forms: Readonly<Record<string, string>> = {
    twilio: 'name=Zo%C3%AB',
    mandrill: 'mandrill_events=%5B%22Zo%C3%AB%22%5D',
  };
  const body = forms[scheme] ?? '{"name":"Zoë"}';
  const webhook = (): InProcessWebhook => {
    const found = daemon.webhooks[senders.length + urlSigning.indexOf(scheme)];
    if (!found) throw new Error(`no webhook of ${scheme}`);
    return found;
  };
  const post = (signedPath: string, sentPath: string) => {
    daemon.clock.nowMs = nowMs;
    const headers = signUrl[scheme](`${baseUrl}${signedPath}`, body);
    return send(`${daemon.ingressUrl}${sentPath}`, { headers, body });
  };

  test('signs the public URL, its query included', async () => {
    const path = `/webhooks/w/${webhook().uid}`;
    expect(await post(path, path)).toMatchObject({ status: 202 });
    expect(await post(`${path}?team=a%20b&x`, `${path}?team=a%20b&x`)).toMatchObject({ status: 202 });
  });

  test('does not verify for another URL', async () => {
    const path = `/webhooks/w/${webhook().uid}`;
    const [other] = daemon.webhooks;
    for (const signed of [`${path}?a=1`, `${path}/`, `/webhooks/w/${other?.uid}`]) {
      expect(await post(signed, path), signed).toMatchObject({ status: 401 });
    }
  });
});

function hmac(text: string, encoding: 'hex' | 'base64', hash = 'sha256'): string {
  return createHmac(hash, urlSecret).update(text).digest(encoding);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
