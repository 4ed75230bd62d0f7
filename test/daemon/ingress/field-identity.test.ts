import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignatureScheme } from '../../../signatures/description.ts';
import { schemes } from '../../../signatures/schemes.ts';
import { credentialsFor, nowMs, sent, setField } from '../../signatures/received.ts';
import { type Answer, send, successStatusOf } from '../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../support/in-process-daemon.ts';

const withField = schemes.filter(({ bodyIdentity }) => bodyIdentity?.field !== undefined);
const withoutKey = schemes.filter(({ bodyIdentity }) => bodyIdentity?.hashWithout !== undefined);
const own = { deliveryIdField: '$.event.id' };
const both = { deliveryIdField: ['$.eventCode', '$.pspReference'] };

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon([
    ...[...withField, ...withoutKey].map(scheme => ({
      scheme: scheme.id,
      secret: credentialsFor(scheme).secret,
    })),
    ...[own, both].map(keys => ({ ...keys, secret: 'token-of-the-sender' })),
  ]);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

function at(index: number) {
  const webhook = daemon.webhooks.at(index);
  if (!webhook) throw new Error(`no webhook ${index}`);
  return webhook;
}

const postTo =
  (index: number) =>
  (body: string, headers: Record<string, string> = {}) =>
    send(at(index).url, { body, headers: { ...headers, authorization: 'Bearer token-of-the-sender' } });
const post = postTo(-2);
const postBoth = postTo(-1);

/** Sends what the provider of a scheme signs, at a time of its own. */
async function sign(scheme: SignatureScheme, index: number, body: string, atMs: number): Promise<Answer> {
  const webhook = at(index);
  const { headers } = sent(scheme, { body: Buffer.from(body), url: webhook.url, id: 'x', nowMs: atMs });
  return send(webhook.url, {
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values?.[0]])),
  });
}

/** The body of an attempt to deliver an event. */
function attempt(scheme: SignatureScheme, event: string, count: number): string {
  const path = scheme.primitive === 'hmac' ? scheme.timestamp?.body : undefined;
  const body = { attempt: count, ...(path && { [path]: nowMs }) };
  for (const [index, field] of [scheme.bodyIdentity?.field ?? []].flat().entries())
    setField(body, field, `${event}-${index}`);
  return JSON.stringify(body);
}

describe('two bodies of one event', () => {
  test.each(withField.map((scheme, index) => [scheme.id, scheme, index] as const))(
    'of %s are one delivery with one run, and another event is another one',
    async (_, scheme, index) => {
      const first = await sign(scheme, index, attempt(scheme, 'a', 1), nowMs);
      const retry = await sign(scheme, index, attempt(scheme, 'a', 2), nowMs + 1000);
      const other = await sign(scheme, index, attempt(scheme, 'b', 1), nowMs + 1000);
      const status = successStatusOf(scheme.id);
      expect([first.status, retry.status, other.status]).toEqual([status, status, status]);
      const rows = await at(index).rows();
      expect(rows.map(({ outcome, duplicateOf }) => [outcome, duplicateOf])).toEqual([
        ['Accepted', undefined],
        ['Duplicate', first.deliveryId],
        ['Accepted', undefined],
      ]);
      expect(rows.map(({ identitySource }) => identitySource)).toEqual(Array(3).fill('schemeField'));
      expect(await daemon.runsOf(first.deliveryId ?? '')).toHaveLength(1);
    },
  );

  test.each(withoutKey.map((scheme, index) => [scheme.id, scheme, withField.length + index] as const))(
    'of %s that differ in the number of the attempt are one delivery',
    async (_, scheme, index) => {
      const key = scheme.bodyIdentity?.hashWithout;
      const ofAttempt = (event: string, count: number | boolean) =>
        `[{"eventId": "${event}", "text": "\\"${key}\\": 7 \\u00e9", "${key}": ${count}, "big": 9007199254740993}]`;
      const first = await sign(scheme, index, ofAttempt('a', 0), nowMs);
      const retry = await sign(scheme, index, ofAttempt('a', 12), nowMs + 1000);
      const other = await sign(scheme, index, ofAttempt('b', 0), nowMs + 1000);
      const inText = await sign(scheme, index, ofAttempt('a', 0).replace('7', '8'), nowMs + 1000);
      const rounded = await sign(scheme, index, ofAttempt('a', 0).replace('993}', '992}'), nowMs + 1000);
      expect(retry.deliveryId).toBe(first.deliveryId);
      // LINE marks a retry with a boolean.
      const marked = [false, true].map(mark => sign(scheme, index, ofAttempt('c', mark), nowMs + 2000));
      const [unmarked, again] = await Promise.all(marked);
      expect(again?.deliveryId).toBe(unmarked?.deliveryId);
      const all = [first, other, inText, rounded].map(({ deliveryId }) => deliveryId);
      expect(new Set(all).size).toBe(4);
    },
  );
});

test('the field of a webhook stands before X-Service-Delivery-Id, and after it, the body', async () => {
  const header = { 'X-Service-Delivery-Id': 'service-1' };
  const byField = await post('{"event":{"id":"evt_1"},"n":1}', header);
  const withoutField = await post('{"n":2}', header);
  const withoutAny = await post('{"n":3}');
  const [last, second, first] = await at(-2).rows();
  expect(first).toMatchObject({
    id: byField.deliveryId,
    identity: 'evt_1',
    identitySource: 'deliveryIdField',
  });
  expect(second).toMatchObject({ id: withoutField.deliveryId, identity: 'service-1' });
  expect(last).toMatchObject({ id: withoutAny.deliveryId, identitySource: 'body', outcome: 'Accepted' });
});

test.each([
  ['null', 'null'],
  ['a boolean', 'true'],
  ['an object', '{"a":1}'],
  ['a list', '["evt"]'],
  ['an empty text', '""'],
  ['a blank text', '" \\t "'],
  ['a fraction', '1.5'],
  ['an integer that may be rounded', '9007199254740993'],
  ['an exponent beyond integers', '1e300'],
])('%s is no ID: two events that have it are two deliveries', async (name, value) => {
  const body = (n: number) => `{"event":{"id":${value}},"${name}":${n}}`;
  const [first, second] = [await post(body(1)), await post(body(2))];
  expect(second.deliveryId).not.toBe(first.deliveryId);
  expect((await at(-2).rows())[0]).toMatchObject({ outcome: 'Accepted', identitySource: 'body' });
});

test.each([
  ['an array of events', '[{"event":{"id":"in-array"}},N]'],
  ['a scalar', '"evt N"'],
  ['a field that every object inherits', '{"event":{"__proto__":{"id":"inherited"}},"n":N}'],
])('%s has no field, so its body identifies it', async (_, body) => {
  const [first, second] = [await post(body.replace('N', '1')), await post(body.replace('N', '2'))];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(second.deliveryId).not.toBe(first.deliveryId);
});

test.each([
  ['a whole number', '42', '42'],
  ['the name of an inherited field', '"__proto__"', '__proto__'],
  ['a text that is not Latin', '"注文-1"', '注文-1'],
  // printf 'sha256:00' | iconv -t utf-16le | sha256sum
  [
    'a text that looks like a hash',
    '"sha256:00"',
    'sha256:d8f57925938396c47303f421246cfcf3a638503e6fba4cf7993fca946b13556f',
  ],
])('%s is an ID', async (_, value, identity) => {
  await post(`{"event":{"id":${value}},"n":1}`);
  await post(`{"event":{"id":${value}},"n":2}`);
  expect((await at(-2).rows())[0]).toMatchObject({ outcome: 'Duplicate', identity });
});

test('IDs that differ only in a lone surrogate, a NUL or beyond 256 bytes are different', async () => {
  const long = 'h'.repeat(200_000);
  const ids = [
    '"\\ud800"',
    '"\\ud801"',
    '"\\ufffd"',
    '"a\\u0000b"',
    '"a\\u0000c"',
    `"${long}1"`,
    `"${long}2"`,
  ];
  const answers: Answer[] = [];
  for (const id of ids) answers.push(await post(`{"event":{"id":${id}}}`));
  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 202));
  expect(new Set(answers.map(({ deliveryId }) => deliveryId)).size).toBe(ids.length);
  const again = await post(`{"event":{"id":"${long}2"},"retry":1}`);
  expect(again.deliveryId).toBe(answers.at(-1)?.deliveryId);
});

test('a list of fields identifies together, framed by length, and only if all are there', async () => {
  const body = (code: string, psp: string, n: number) =>
    JSON.stringify({ eventCode: code, pspReference: psp, n });
  const first = await postBoth(body('a', 'bc', 1));
  const shifted = await postBoth(body('ab', 'c', 1));
  const retry = await postBoth(body('a', 'bc', 2));
  const partial = [await postBoth('{"eventCode":"a","n":1}'), await postBoth('{"eventCode":"a","n":2}')];
  expect(retry.deliveryId).toBe(first.deliveryId);
  expect(new Set([first, shifted, ...partial].map(({ deliveryId }) => deliveryId)).size).toBe(4);
  expect((await at(-1).rows()).at(-1)).toMatchObject({ identity: '1:a2:bc' });
});
