import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dayMs } from '../../../../schema/time-units.ts';
import { send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import { credentialsFor, getScheme, nowMs, sent } from '../../../unit/signatures/received.ts';

const slack = getScheme('slack');
const secret = 'token-of-the-night-job';
const none = { authMode: 'url_token', secret, identity: 'none' } as const;
const sameBody = { authMode: 'url_token', secret, identity: { sameBody: '10m' } } as const;

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon([
    none,
    sameBody,
    { ...none, deliveryIdField: '$.id' },
    { scheme: 'slack', secret: credentialsFor(slack).secret, identity: 'none' },
  ]);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

function webhookAt(index: number) {
  const webhook = daemon.webhooks[index];
  if (!webhook) throw new Error(`no webhook ${index}`);
  return webhook;
}

/** Sends a delivery, and returns the ID in the answer. */
async function post(index: number, body = '{"job":"night"}', headers = {}): Promise<string | undefined> {
  const { status, deliveryId } = await send(`${webhookAt(index).url}/${secret}`, { headers, body });
  expect(status).toBe(202);
  return deliveryId;
}

const countRuns = async (index: number) => {
  const rows = await webhookAt(index).rows();
  const runs = await Promise.all(rows.map(({ id }) => daemon.runsOf(id)));
  return runs.flat().length;
};

test('with identity none, a job with one body starts a run each night', async () => {
  for (let night = 0; night < 30; night++) {
    await post(0);
    daemon.clock.nowMs += dayMs;
  }
  expect(await countRuns(0)).toBe(30);
  const [last] = await webhookAt(0).rows();
  expect(last).toMatchObject({ identity: last?.id, identitySource: 'none' });
});

test('with a time for the same body, a retry starts nothing, and the next night does', async () => {
  for (let night = 0; night < 30; night++) {
    const first = await post(1);
    daemon.clock.nowMs += 9 * 60_000;
    expect(await post(1)).toBe(first);
    daemon.clock.nowMs += dayMs;
  }
  expect(await countRuns(1)).toBe(30);
  const rows = await webhookAt(1).rows();
  expect(rows.filter(({ outcome }) => outcome === 'Duplicate')).toHaveLength(30);
});

test('an ID still identifies a delivery, in the field that the webhook names or in the header', async () => {
  const first = await post(2, '{"id":1}');
  expect(await post(2, '{"id":1}')).toBe(first);
  const named = await post(2, '{}', { 'X-Service-Delivery-Id': 'evt_1' });
  expect(await post(2, '{"n":1}', { 'X-Service-Delivery-Id': 'evt_1' })).toBe(named);
  expect(await post(2, '{}')).not.toBe(await post(2, '{}'));
});

test('a captured signed request starts nothing when it is sent again', async () => {
  const { url, rows } = webhookAt(3);
  daemon.clock.nowMs = nowMs;
  const body = Buffer.from('{"job":"night"}');
  const signed = async (atMs: number) => {
    const { headers } = sent(slack, { body, url, nowMs: atMs });
    return (await send(url, { body, headers: headers as OutgoingHttpHeaders })).deliveryId;
  };
  const first = await signed(nowMs);
  expect(await signed(nowMs)).toBe(first);
  expect(await signed(nowMs + 1_000)).not.toBe(first);
  expect((await rows()).map(({ outcome }) => outcome)).toEqual(['Accepted', 'Duplicate', 'Accepted']);
});
