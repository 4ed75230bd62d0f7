import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeCapturedRequest } from '../../../../signatures/captured-request.ts';
import type { SignatureDescription } from '../../../../signatures/description.ts';
import { schemes } from '../../../../signatures/schemes.ts';
import { type Sent, send, successStatusOf } from '../../../support/http.ts';
import {
  type InProcessDaemon,
  type InProcessWebhook,
  startInProcessDaemon,
} from '../../../support/in-process-daemon.ts';
import { bodyFor, credentialsFor, getScheme, nowMs, sent } from '../../../unit/signatures/received.ts';

const given = [
  ...schemes.map(({ id }) => ({ scheme: id, secret: credentialsFor(getScheme(id)).secret })),
  {
    scheme: 'standard-webhooks',
    secret: credentialsFor(getScheme('standard-webhooks')).secret,
    deliveryIdHeader: 'X-Event-Id',
  },
];

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

function webhookAt(index: number): InProcessWebhook {
  const webhook = daemon.webhooks[index];
  if (!webhook) throw new Error(`no webhook ${index}`);
  return webhook;
}

const webhookOf = (id: string) => webhookAt(schemes.findIndex(scheme => scheme.id === id));

let captured = 0;

/** A request that the provider sends, each with another body. */
function capture(scheme: SignatureDescription, { url }: InProcessWebhook): Sent {
  const body = bodyFor(scheme, nowMs, `capture ${++captured}`);
  const { headers } = sent(scheme, { body, url, id: `evt_${captured}` });
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values?.[0]])),
    body,
  };
}

/** Sends a captured request again, under other values in every ID header that it may have. */
async function replay(
  scheme: SignatureDescription,
  { url }: InProcessWebhook,
  { headers, body }: Sent,
  id: string,
) {
  const ids = { 'x-service-delivery-id': id, 'x-event-id': id };
  const own = scheme.deliveryIdHeader && { [scheme.deliveryIdHeader.toLowerCase()]: id };
  return send(url, { headers: { ...headers, ...ids, ...own }, body });
}

describe('a captured request that is sent again under other unsigned IDs', () => {
  test.each(schemes)('of $id is what `schemes show` says', async scheme => {
    const webhook = webhookOf(scheme.id);
    const request = capture(scheme, webhook);
    const first = await send(webhook.url, request);
    const status = successStatusOf(scheme.id);
    expect(first).toMatchObject({ status });
    const again = await replay(scheme, webhook, request, 'stranger');
    const says = describeCapturedRequest(scheme);
    const hasField = scheme.bodyIdentity?.field !== undefined;
    const isNew = says.includes('new delivery') || (says.includes('can send anything') && !hasField);
    expect(again).toMatchObject({ status });
    expect((await webhook.rows()).map(({ outcome }) => outcome)).toEqual([
      isNew ? 'Accepted' : 'Duplicate',
      'Accepted',
    ]);
    expect(again.deliveryId === first.deliveryId).toBe(!isNew);
  });

  test('starts nothing ten times, and answers the original each time', async () => {
    const buildkite = getScheme('buildkite');
    const webhook = webhookOf('buildkite');
    const request = capture(buildkite, webhook);
    const { deliveryId = '' } = await send(webhook.url, request);
    for (let i = 0; i < 10; i++) {
      expect(await replay(buildkite, webhook, request, `other-${i}`)).toMatchObject({
        status: 202,
        deliveryId,
      });
    }
    expect(await daemon.runsOf(deliveryId)).toHaveLength(1);
    expect((await webhook.rows())[0]).toMatchObject({
      outcome: 'Duplicate',
      duplicateOf: deliveryId,
      identity: 'other-9',
    });
  });

  test('is a duplicate where the webhook names a header before the signed ID', async () => {
    const standard = getScheme('standard-webhooks');
    const webhook = webhookAt(schemes.length);
    const request = capture(standard, webhook);
    const { deliveryId } = await send(webhook.url, request);
    expect(await replay(standard, webhook, request, 'stranger')).toMatchObject({ status: 202, deliveryId });
  });

  test('is a duplicate however its signature is written', async () => {
    // Its body has no ID by which it would be a duplicate anyway.
    const buildkite = getScheme('buildkite');
    const webhook = webhookOf('buildkite');
    const { headers = {}, body }: Sent = capture(buildkite, webhook);
    const { deliveryId } = await send(webhook.url, { headers, body });
    const signature = String(headers['x-buildkite-signature']);
    const written = [
      signature.replace(/(?<=signature=).*/, hex => hex.toUpperCase()),
      `${signature},signature=00`,
      `v0=1,${signature}`,
    ];
    for (const [index, text] of written.entries()) {
      const request = { headers: { ...headers, 'x-buildkite-signature': text }, body };
      expect(await replay(buildkite, webhook, request, `written-${index}`)).toMatchObject({
        status: 202,
        deliveryId,
      });
    }
  });

  test('is a duplicate with the other signature that an ECDSA signature makes possible', async () => {
    const sendgrid = getScheme('sendgrid');
    const webhook = webhookOf('sendgrid');
    const request = capture(sendgrid, webhook);
    const { deliveryId } = await send(webhook.url, request);
    const name = sendgrid.header.toLowerCase();
    const headers = { ...request.headers, [name]: negate(String(request.headers?.[name])) };
    expect(await replay(sendgrid, webhook, { ...request, headers }, 'negated')).toMatchObject({
      status: 202,
      deliveryId,
    });
  });
});

test('a duplicate counts as a delivery of the minute', async () => {
  const small = await startInProcessDaemon(
    [{ scheme: 'stripe', secret: credentialsFor(getScheme('stripe')).secret }],
    { limits: { deliveriesPerMinute: 3 } },
  );
  try {
    small.clock.nowMs = nowMs;
    const [webhook] = small.webhooks;
    if (!webhook) throw new Error('no webhook');
    const request = capture(getScheme('stripe'), webhook);
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await replay(getScheme('stripe'), webhook, request, `r${i}`)).status);
    expect(statuses).toEqual([202, 202, 202, 429]);
  } finally {
    await small.stop();
  }
});

const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

/** If (r, s) is an ECDSA signature, so is (r, n − s). Takes and returns DER in base64. */
function negate(signature: string): string {
  const der = Buffer.from(signature, 'base64');
  const lengthOfR = der[3] ?? 0;
  const s = BigInt(`0x${der.subarray(6 + lengthOfR).toString('hex')}`);
  let negated = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
  while (negated[0] === 0 && (negated[1] ?? 0) < 0x80) negated = negated.subarray(1);
  if ((negated[0] ?? 0) >= 0x80) negated = Buffer.concat([Buffer.of(0), negated]);
  const body = Buffer.concat([der.subarray(2, 4 + lengthOfR), Buffer.of(2, negated.length), negated]);
  return Buffer.concat([Buffer.of(0x30, body.length), body]).toString('base64');
}
