import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attemptRun } from '../../../../../daemon/runs/run-attempt.ts';
import { findFreePort } from '../../../../support/free-port.ts';
import { startReceiver } from '../../../../support/loopback-server.ts';
import { recordBurst, recordRun } from '../record-runs.ts';
import { openDefaultRunner, openRunBench, outputOf, runSettings, runThatIs } from '../run-samples.ts';

const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };

test('posts the message and the exact body, and takes 2xx for success', async () => {
  const { requests, url } = await startReceiver((_, response) => response.writeHead(202).end('taken on'));
  const bench = await openRunBench();
  const payload = Buffer.from(' {"a": "\r\n--é", "b": [1e400]}\n\n');
  const runner = { kind: 'http', url, tokenFromEnvironment: 'RECEIVER_TOKEN' };
  await bench.start({ runner }, { environment: { RECEIVER_TOKEN: 'the-token' } });
  const id = await recordRun(bench.deliveryLog, { payload });
  const run = await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });

  expect(requests).toHaveLength(1);
  const { headers, body } = requests[0] ?? { headers: {}, body: Buffer.alloc(0) };
  expect(headers).toMatchObject({
    authorization: 'Bearer the-token',
    'hookmill-run-id': id,
    'hookmill-delivery-id': run.deliveryId,
    'hookmill-webhook': 'pay',
    'hookmill-automation': 'triage',
    'hookmill-factory': 'default',
    'hookmill-attempt': '1',
    'hookmill-fencing-token': '1',
    'content-length': String(body.length),
  });
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  const message = String(form.get('message'));
  const directory = join(bench.home.runsDirectory, id);
  // Lines of a text field end in CRLF on the wire.
  expect(message.replaceAll('\r\n', '\n')).toBe(readFileSync(join(directory, 'prompt.md'), 'utf8'));
  const file = form.get('event-payload.json') as File;
  expect([file.name, file.type]).toEqual(['event-payload.json', 'application/json']);
  expect(Buffer.from(await file.arrayBuffer()).equals(payload)).toBe(true);
  const kept = form.get('event-headers.json') as File;
  expect([kept.name, kept.type]).toEqual(['event-headers.json', 'application/json']);
  expect(await kept.text()).toBe(readFileSync(join(directory, 'event-headers.json'), 'utf8'));
  expect(await outputOf(bench, id)).toMatch(
    /^\[hookmill: attempt 1 at .*\]\nHTTP 202\ntaken on\n\[hookmill: succeeded\]\n$/,
  );
});

test('posts the payloads and headers of a burst as one part for each file', async () => {
  const { requests, url } = await startReceiver((_, response) => response.writeHead(200).end());
  const bench = await openRunBench();
  const payloads = ['{"n": 1}', '{"n":2}\r\n'].map(text => Buffer.from(text));
  const id = await recordBurst(bench.deliveryLog, payloads);
  await bench.start({ runner: { kind: 'http', url } });
  await runThatIs(bench, id, { state: 'succeeded' });
  const { headers, body } = requests[0] ?? { headers: {}, body: Buffer.alloc(0) };
  const type = { 'content-type': headers['content-type'] ?? '' };
  const form = await new Response(new Uint8Array(body), { headers: type }).formData();
  const files = new Map<string, string>();
  for (const [name, part] of form) if (part instanceof File) files.set(name, await part.text());
  expect(Object.fromEntries(files)).toEqual({
    'event-payload.json': String(payloads[1]),
    'event-headers.json': '{}\n',
    'event-payloads/0001.json': String(payloads[0]),
    'event-headers/0001.json': '{}\n',
    'event-payloads/0002.json': String(payloads[1]),
    'event-headers/0002.json': '{}\n',
  });
});

test.each([500, 503, 429])('tries again after %d, under the same run id', async status => {
  const { requests, url } = await startReceiver((_, response) =>
    response.writeHead(requests.length === 1 ? status : 200).end(),
  );
  const bench = await openRunBench();
  await bench.start({ runner: { kind: 'http', url }, backOff });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
  expect(requests.map(({ headers }) => headers['hookmill-run-id'])).toEqual([id, id]);
  expect(requests.map(({ headers }) => headers['hookmill-fencing-token'])).toEqual(['1', '2']);
});

test('waits as long as Retry-After asks', async () => {
  const { url } = await startReceiver((_, response) =>
    response.writeHead(503, { 'retry-after': '1800' }).end(),
  );
  const bench = await openRunBench();
  const nowMs = Date.now() + 1000;
  await bench.start({ runner: { kind: 'http', url }, backOff }, { nowMs: () => nowMs });
  const id = await recordRun(bench.deliveryLog);
  const error = 'the receiver answered 503';
  await runThatIs(bench, id, { state: 'queued', attempts: 1, error, notBeforeMs: nowMs + 1_800_000 });
});

test.each([400, 401, 404, 410])('fails the run at once after %d', async status => {
  const { requests, url } = await startReceiver((_, response) =>
    response.writeHead(status).end('no such thing'),
  );
  const bench = await openRunBench();
  await bench.start({ runner: { kind: 'http', url }, backOff });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'failed', attempts: 1, error: `the receiver answered ${status}` });
  expect(requests).toHaveLength(1);
});

test.each([301, 302, 307, 308])('does not follow a redirect: %d', async status => {
  const { requests, url } = await startReceiver((_, response) =>
    response.writeHead(status, { location: '/elsewhere' }).end(),
  );
  const bench = await openRunBench();
  await bench.start({ runner: { kind: 'http', url }, backOff });
  const id = await recordRun(bench.deliveryLog);
  const error = `the receiver answered ${status}; redirects are not followed`;
  await runThatIs(bench, id, { state: 'failed', attempts: 1, error });
  expect(requests.map(request => request.url)).toEqual(['/runs']);
  expect(await outputOf(bench, id)).toContain('location: /elsewhere');
});

test('tries again when nobody listens, or the answer does not come', async () => {
  const bench = await openRunBench();
  const refused = await bench.start({
    runner: { kind: 'http', url: `http://127.0.0.1:${await findFreePort()}/` },
    attempts: 2,
    backOff,
  });
  const first = await recordRun(bench.deliveryLog);
  await runThatIs(bench, first, { state: 'failed', attempts: 2, error: 'the request failed (ECONNREFUSED)' });
  await refused.stop();

  const { url } = await startReceiver(() => undefined);
  await bench.start({ runner: { kind: 'http', url, timeLimitSeconds: 0.1 }, attempts: 2, backOff });
  const second = await recordRun(bench.deliveryLog);
  const error = 'the receiver did not answer within 0.1 s';
  await runThatIs(bench, second, { state: 'failed', attempts: 2, error });
});

test('stops reading an answer that is larger than what is stored', async () => {
  const { url } = await startReceiver((_, response) => {
    const more = () => {
      while (response.write('y'.repeat(65_536)));
      response.once('drain', more);
    };
    more();
  });
  const bench = await openRunBench();
  await bench.start({ runner: { kind: 'http', url, outputBytes: 1000 } });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded' });
  const log = await outputOf(bench, id);
  expect(log).toContain('[hookmill: output truncated');
  expect(log.length).toBeLessThan(1300);
});

test('gives a request that a stopping daemon ended back to the queue', async () => {
  const { requests, url } = await startReceiver(() => undefined);
  const bench = await openRunBench();
  const queue = await bench.start({ runner: { kind: 'http', url } });
  const id = await recordRun(bench.deliveryLog);
  await expect.poll(() => requests.length).toBe(1);
  await queue.stop();
  expect(await bench.store.deliveries.findRun(id)).toMatchObject({ state: 'queued', attempts: 1 });
});

test('does not start without the token that the settings name', async () => {
  const settings = runSettings({
    runner: { kind: 'http', url: 'https://x.example', tokenFromEnvironment: 'NOT_SET' },
  });
  const { store, deliveryLog } = await openRunBench();
  await expect(
    openDefaultRunner(settings, { environment: {}, store, deliveryLog, nowMs: Date.now }),
  ).rejects.toThrow('the environment variable NOT_SET is not set');
});

test('a daemon that stops while it prepares an attempt sends no request', async () => {
  const { requests, url } = await startReceiver((_, response) => response.writeHead(202).end());
  const { store, deliveryLog } = await openRunBench();
  const run = await runThatIs({ store }, await recordRun(deliveryLog), { state: 'queued' });
  const stopping = new AbortController();
  const result = await attemptRun(
    run,
    { name: 'triage', prompt: 'Act.' },
    {
      deliveryLog,
      runFiles: {
        ...store.runFiles,
        prepare: (...given) => {
          stopping.abort();
          return store.runFiles.prepare(...given);
        },
      },
      runner: await openDefaultRunner(runSettings({ runner: { kind: 'http', url } }), {
        environment: {},
        ...{ store, deliveryLog },
        nowMs: Date.now,
      }),
    },
    stopping.signal,
  );
  expect(result).toMatchObject({ kind: 'unattempted' });
  expect(requests).toEqual([]);
});
