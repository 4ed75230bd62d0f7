import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';

const secret = 'a-secret-of-the-sender';
const mark = '\ufeff';
const hmac = { hash: 'sha256', encoding: 'hex', content: '{body}' } as const;

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon([
    { secret, scheme: { ...hmac, header: 'X-Xero', answer: { status: 200, isEmpty: true } } },
    { secret, bodyFormat: 'form' },
    { secret, bodyFormat: 'form', payloadField: 'payload' },
    { secret, scheme: 'docusign' },
    { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`, scheme: 'standard_webhooks' },
  ]);
});
afterAll(() => daemon.stop());

const webhookAt = (index: number) => daemon.webhooks[index] ?? { url: '', rows: async () => [] };

test('a body after a byte order mark is verified and identified as it was sent, and read without it', async () => {
  const post = (body: string) => {
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return send(webhookAt(0).url, { headers: { 'X-Xero': signature }, body });
  };
  // The described scheme also says how its sender is answered.
  expect(await post(`${mark}{"n":1}`)).toMatchObject({ status: 200, body: '' });
  await post('{"n":1}');
  expect((await webhookAt(0).rows()).map(({ outcome }) => outcome)).toEqual(['Accepted', 'Accepted']);
});

test.each([
  [1, `${mark}a=1`],
  [2, `${mark}payload=%7B%7D`],
  [2, 'payload=%EF%BB%BF%7B%7D'],
])('a form of webhook %i may start with a byte order mark: %j', async (index, body) => {
  const headers = { authorization: `Bearer ${secret}` };
  expect(await send(webhookAt(index).url, { headers, body })).toMatchObject({ status: 202 });
});

test.each([1, 2, 3, 42, 100])('DocuSign may sign with its key %i', async number => {
  const body = `{"key":${number}}`;
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  const headers = { [`X-DocuSign-Signature-${number}`]: signature };
  expect(await send(webhookAt(3).url, { headers, body })).toMatchObject({ status: 202 });
  expect(await send(webhookAt(3).url, { headers, body: '{}' })).toMatchObject({ status: 401 });
});

test('a scheme is known by the name that other services give it', async () => {
  expect(await send(webhookAt(4).url, { body: '{}' })).toMatchObject({ status: 401 });
});
