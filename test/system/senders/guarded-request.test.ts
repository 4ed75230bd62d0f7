import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  type GuardedRequest,
  GuardedRequestError,
  requestGuarded,
} from '../../../senders/guarded-request.ts';
import { startLoopbackServer, startReceiver } from '../../support/loopback-server.ts';

const ask = (url: string, given: Partial<GuardedRequest> = {}) =>
  requestGuarded({
    ...{ url, answerMs: 60_000, answerBytesMax: 1_000, isTrusted: true },
    howToTrust: 'the operator can list it',
    stopping: new AbortController().signal,
    ...given,
  });

async function failureOf(answer: Promise<unknown>): Promise<GuardedRequestError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GuardedRequestError)) throw new Error(`no failure: ${inspect(error)}`);
  return error;
}

const answerNothing: RequestListener = () => undefined;

test('sends what it is given, and reads the answer, whatever its status', async () => {
  const server = await startReceiver((_, response) =>
    response.writeHead(422, { 'x-reason': 'invalid' }).end('{"message":"no"}'),
  );
  const answer = await ask(`${server.url}?page=2`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: '{"ü":1}',
  });
  expect(answer).toMatchObject({ status: 422, headers: { 'x-reason': 'invalid' }, body: '{"message":"no"}' });
  const [asked] = server.requests;
  expect(asked).toMatchObject({ method: 'PATCH', url: '/runs?page=2' });
  expect(asked?.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '8' });
  expect(asked?.body.toString()).toBe('{"ü":1}');
});

test('does not follow a redirect, and does not ask where it leads to', async () => {
  const elsewhere = await startReceiver((_, response) => response.end('secret'));
  const url = await startLoopbackServer((_, response) =>
    response.writeHead(302, { location: elsewhere.url }).end(),
  );
  const failure = await failureOf(ask(`${url}/hooks`));
  expect(failure).toMatchObject({
    code: 'redirected',
    message: `${url}/hooks: it answered 302; redirects are not followed`,
  });
  expect(elsewhere.requests).toEqual([]);
});

test('asks no server without https, unless the operator trusts it', async () => {
  const server = await startReceiver((_, response) => response.end('ok'));
  expect(await failureOf(ask(server.url, { isTrusted: false }))).toMatchObject({
    code: 'not-allowed',
    message: `${server.url}: it has no https; the operator can list it`,
  });
  expect(server.requests).toEqual([]);
  expect(await ask(server.url)).toMatchObject({ status: 200, body: 'ok' });
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '[::1]',
  '[fd00::1]',
  '[::ffff:192.168.1.1]',
  '[64:ff9b::10.0.0.1]',
  '2130706433',
  'localhost',
])('asks no server at a private address, unless the operator trusts it: %s', async host => {
  const failure = await failureOf(ask(`https://${host}:1/`, { isTrusted: false }));
  expect(failure.code).toBe('not-allowed');
  expect(failure.message).toMatch(/ has an address that is not public; the operator can list it$/);
  // A trusted one is asked: nothing listens there.
  if (host === '127.0.0.1') expect((await failureOf(ask(`https://${host}:1/`))).code).toBe('failed');
});

test('takes no more of an answer than its limit', async () => {
  let wasCut = false;
  const url = await startLoopbackServer((_, response) => {
    response.on('close', () => {
      wasCut = !response.writableFinished;
    });
    // More than any buffer between the two, so that only somebody who reads on gets to its end.
    response.end(Buffer.alloc(100_000_000));
  });
  expect(await failureOf(ask(url))).toMatchObject({
    code: 'too-large',
    message: `${url}/: its answer has more than 1000 bytes`,
  });
  await expect.poll(() => wasCut).toBe(true);
});

test.each<[string, RequestListener]>([
  ['never answers', answerNothing],
  ['never ends its answer', (_, response) => response.writeHead(200).write('[')],
])('waits no longer than its time limit for a server that %s', async (_, answer) => {
  const url = await startLoopbackServer(answer);
  expect(await failureOf(ask(url, { answerMs: 50 }))).toMatchObject({
    code: 'timed-out',
    message: `${url}/ did not answer within 0.05 s`,
  });
});

test('ends a request when hookmill stops', async () => {
  const stop = new AbortController();
  const url = await startLoopbackServer(() => stop.abort());
  const failure = await failureOf(ask(url, { stopping: stop.signal }));
  expect(failure).toMatchObject({ code: 'stopped', message: `${url}/: hookmill ended the request` });
});

test('shows nothing of a credential in any failure', async () => {
  const secret = 'tok-5f3a';
  const headers = { Authorization: `Bearer ${secret}`, 'PRIVATE-TOKEN': secret };
  const servers = await Promise.all([
    startLoopbackServer((_, response) => response.writeHead(301, { location: `/?${secret}` }).end()),
    startLoopbackServer((_, response) => response.end(secret.repeat(200))),
    startLoopbackServer(({ socket }) => socket.destroy()),
    startLoopbackServer(answerNothing),
  ]);
  const withUser = (url: string) => url.replace('://', `://ada:${secret}@`);
  const failures = await Promise.all([
    ...servers.map((url, index) =>
      // Only the last one is slow, also on a slow machine.
      failureOf(ask(`${withUser(url)}/?token=${secret}`, { headers, answerMs: index === 3 ? 50 : 60_000 })),
    ),
    failureOf(ask(withUser('http://127.0.0.1:1/'), { headers, body: secret, method: 'POST' })),
    failureOf(ask(withUser('https://10.0.0.1/'), { headers, isTrusted: false })),
    failureOf(ask('http://127.0.0.1:1/', { headers: { Authorization: `${secret}\n` } })),
  ]);
  expect(new Set(failures.map(({ code }) => code))).toEqual(
    new Set(['redirected', 'too-large', 'failed', 'timed-out', 'not-allowed']),
  );
  for (const failure of failures) expect(inspect(failure, { depth: 10 })).not.toContain(secret);
});
