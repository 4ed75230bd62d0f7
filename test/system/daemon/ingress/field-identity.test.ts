import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignatureScheme } from '../../../../signatures/description.ts';
import { schemes } from '../../../../signatures/schemes.ts';
import { type Answer, send, successStatusOf } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import { credentialsFor, nowMs, sent, setField } from '../../../unit/signatures/received.ts';

const withField = schemes.filter(({ bodyIdentity }) => bodyIdentity?.field !== undefined);
const withoutKey = schemes.filter(({ bodyIdentity }) => bodyIdentity?.hashWithout !== undefined);

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon([
    ...[...withField, ...withoutKey].map(scheme => ({
      scheme: scheme.id,
      secret: credentialsFor(scheme).secret,
    })),
  ]);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

function at(index: number) {
  const webhook = daemon.webhooks.at(index);
  if (!webhook) throw new Error(`no webhook ${index}`);
  return webhook;
}

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
