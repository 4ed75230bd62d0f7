import { expect, test } from 'vitest';
import { attemptRun } from '../../../../../daemon/runs/run-attempt.ts';
import { DeliveryLogError } from '../../../../../store/ports/store-error.ts';
import { startReceiver } from '../../../../support/loopback-server.ts';
import { recordBurst, recordRun } from '../record-runs.ts';
import { openDefaultRunner, openRunBench, outputOf, runSettings, runThatIs } from '../run-samples.ts';

const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
const hostile =
  '{"text": "\\r\\nX-Evil: 1\\"}, {payload.id} {secret.TOKEN}", "id": 9007199254740993, "id": 9007199254740995 }\n';

/** Starts a queue that posts to a receiver, which answers as the test says. */
async function post(
  runner: Record<string, unknown>,
  answer: Parameters<typeof startReceiver>[0] = (_, response) => response.writeHead(200).end(),
  runs: object = {},
) {
  const receiver = await startReceiver(answer);
  const bench = await openRunBench();
  const start = () =>
    bench.start({ runner: { kind: 'http', url: receiver.url, ...runner }, backOff, attempts: 1, ...runs });
  return { ...receiver, bench, start };
}

test('`body: payload` posts the exact bytes of the payload, of a burst those of the newest', async () => {
  const { requests, bench, start } = await post({ body: 'payload' });
  await start();
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(hostile) });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(requests[0]?.body.toString()).toBe(hostile);
  expect(requests[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(hostile.length),
    'hookmill-run-id': id,
  });
  expect(requests[0]?.headers).not.toHaveProperty('x-evil');

  const burst = await recordBurst(bench.deliveryLog, [Buffer.from('{"n":1}'), Buffer.from('{"n": 2}')]);
  await runThatIs(bench, burst, { state: 'succeeded' });
  expect(requests[1]?.body.toString()).toBe('{"n": 2}');
});

test('`body: json` posts one object, with each payload as it stands in the log', async () => {
  const { requests, bench, start } = await post({ body: 'json' });
  await start();
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(hostile) });
  const { deliveryId } = await runThatIs(bench, id, { state: 'succeeded' });
  const text = requests[0]?.body.toString() ?? '';
  expect(text).toContain(`,"payload":${hostile}}`);
  expect(requests[0]?.headers['content-type']).toBe('application/json');
  expect(JSON.parse(text)).toEqual({
    message: expect.stringMatching(/^Triage this payment\.\n\n---\n/),
    ...{
      run: id,
      delivery: deliveryId,
      webhook: 'pay',
      automation: 'triage',
      factory: 'default',
      attempt: 1,
    },
    headers: expect.any(Object),
    payload: JSON.parse(hostile),
  });

  const payloads = ['{"n":9007199254740993}', ' {"n": 2}\n'];
  const burst = await recordBurst(
    bench.deliveryLog,
    payloads.map(one => Buffer.from(one)),
  );
  await runThatIs(bench, burst, { state: 'succeeded' });
  const gathered = requests[1]?.body.toString() ?? '';
  expect(gathered).toContain(`,"payload":${payloads[1]},"payloads":[${payloads}],"payloadHeaders":[`);
  expect(JSON.parse(gathered).payloadHeaders).toEqual([expect.any(Object), expect.any(Object)]);
});

test('a template takes values of the payload as data, and team secrets, which the output does not show', async () => {
  const template = {
    event: '{payload.text}',
    id: '{payload.id}',
    token: '{secret.TOKEN}',
    all: '{payloads}',
  };
  const { requests, bench, start } = await post({ template }, (_, response) =>
    response.writeHead(200).end('{"echo": "s3cr3t\\"value"}'),
  );
  await bench.store.teamSecrets.set('TOKEN', 's3cr3t"value');
  await start();
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(hostile) });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(requests[0]?.body.toString()).toBe(
    `{"event":"\\r\\nX-Evil: 1\\"}, {payload.id} {secret.TOKEN}","id":9007199254740995,"token":"s3cr3t\\"value","all":[${hostile}]}`,
  );
  expect(await outputOf(bench, id)).toContain('{"echo": "[secret]"}');
});

test('a value that the payload does not have fails the run at once, and says where it should be', async () => {
  const { requests, bench, start } = await post({ template: { id: '{payload.issue.id}' } }, undefined, {
    attempts: 3,
  });
  await start();
  const id = await recordRun(bench.deliveryLog);
  const run = await runThatIs(bench, id, { state: 'failed', attempts: 1 });
  expect(run.error).toBe(
    'the payload has no issue.id, which the template of the runner names; with ? after the path, it would be null',
  );
  expect(await outputOf(bench, id)).toContain(run.error);
  expect(requests).toEqual([]);
});

test('sends the operator’s headers, and the ID of the run under another name in each attempt', async () => {
  const { requests, bench, start } = await post(
    { headers: { Accept: 'application/x.v3+json', 'X-Team': 'a "b"' }, idempotencyHeader: 'Idempotency-Key' },
    (_, response) => response.writeHead(requests.length === 1 ? 503 : 200).end(),
    { attempts: 2 },
  );
  await start();
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
  const [first, second] = requests.map(({ headers }) => headers);
  expect(first).toMatchObject({ accept: 'application/x.v3+json', 'x-team': 'a "b"', 'idempotency-key': id });
  expect(second).toMatchObject({ 'idempotency-key': id, 'hookmill-attempt': '2' });
});

test('{run} in the URL is the ID of the run', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(200).end());
  const bench = await openRunBench();
  await bench.start({ runner: { kind: 'http', url: `${receiver.url}/{run}?again={run}` } });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(receiver.requests[0]?.url).toBe(`/runs/${id}?again=${id}`);
});

test('sends team secrets in headers, with their values at the time of the attempt', async () => {
  const secretHeaders = { Authorization: { secretName: 'TOKEN', prefix: 'Bearer ' }, 'X-Key': 'KEY' };
  const { requests, bench, start } = await post({ secretHeaders });
  const { teamSecrets } = bench.store;
  await teamSecrets.set('TOKEN', 'first');
  await teamSecrets.set('KEY', 'k');
  await start();
  await runThatIs(bench, await recordRun(bench.deliveryLog), { state: 'succeeded' });
  await teamSecrets.set('TOKEN', 'second');
  await runThatIs(bench, await recordRun(bench.deliveryLog), { state: 'succeeded' });
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  expect(requests[0]?.headers['x-key']).toBe('k');
});

test.each([
  [
    'no such team secret',
    async () => undefined,
    /^the team secret TOKEN has no value; set it with `hookmill secrets set TOKEN`/,
  ],
  [
    'one of another factory',
    async (secrets: Secrets) => secrets.set('TOKEN', 'value-of-it', 'other'),
    /^the factory default may not use the team secret TOKEN; `hookmill secrets share TOKEN default` allows it$/,
  ],
  [
    'one with a line break',
    async (secrets: Secrets) => secrets.set('TOKEN', 'value-of-it\r\nX-Evil: 1'),
    /^the value of the team secret TOKEN cannot be in a header; /,
  ],
  [
    'one that no header can hold',
    async (secrets: Secrets) => secrets.set('TOKEN', 'value-of-it€'),
    /^the value of the team secret TOKEN cannot be in a header; /,
  ],
] as const)('with %s the run fails at once, with the remedy', async (_, prepare, reason) => {
  const { requests, bench, start } = await post({ secretHeaders: { 'X-Key': 'TOKEN' } }, undefined, {
    attempts: 3,
  });
  await prepare(bench.store.teamSecrets);
  await start();
  const id = await recordRun(bench.deliveryLog);
  const { error } = await runThatIs(bench, id, { state: 'failed', attempts: 1 });
  expect(error).toMatch(reason);
  expect(`${error}${await outputOf(bench, id)}`).not.toContain('value-of-it');
  expect(requests).toEqual([]);
});

type Secrets = Awaited<ReturnType<typeof openRunBench>>['store']['teamSecrets'];

test('a team secret that cannot be read now is tried again', async () => {
  const { bench, start } = await post({ secretHeaders: { 'X-Key': 'TOKEN' } }, undefined, { attempts: 2 });
  await bench.store.teamSecrets.refer('TOKEN', 'env:NOT_SET_IN_TESTS', null);
  await start();
  const id = await recordRun(bench.deliveryLog);
  const { error } = await runThatIs(bench, id, { state: 'failed', attempts: 2 });
  expect(error).toContain('NOT_SET_IN_TESTS');
});

test('posts to a URL that is a team secret, and shows it nowhere', async () => {
  const receiver = await startReceiver((request, response) =>
    response.writeHead(404).end(`no ${request.url} here`),
  );
  const bench = await openRunBench();
  await bench.store.teamSecrets.set('HOOK', `${receiver.url}/T0/s3cr3t`);
  await bench.start({ runner: { kind: 'http', secretUrl: 'HOOK' } });
  const id = await recordRun(bench.deliveryLog);
  const { error } = await runThatIs(bench, id, { state: 'failed' });
  expect(receiver.requests[0]?.url).toBe('/runs/T0/s3cr3t');
  expect(error).toBe('the receiver answered 404');
  expect(await outputOf(bench, id)).toContain('no [secret] here');

  await bench.store.teamSecrets.set('HOOK', 's3cr3t that is no URL');
  const wrong = await recordRun(bench.deliveryLog);
  const failed = await runThatIs(bench, wrong, { state: 'failed' });
  expect(failed.error).toMatch(/^the team secret HOOK is not the URL of a receiver; /);
  expect(await outputOf(bench, wrong)).not.toContain('s3cr3t');
});

test('keeps no secret of an answer that repeats it in pieces', async () => {
  const secret = 's3cr3t-"value';
  const secretHeaders = { Authorization: { secretName: 'TOKEN', prefix: 'Bearer ' } };
  const answer = { message: `got ${secret}`, link: `https://x.example/${secret}`, end: 's3cr3t-' };
  const { bench, start } = await post(
    { secretHeaders, responseMessage: '$.message', responseLink: '$.link' },
    (_, response) => {
      response.writeHead(200, { location: `/?key=${secret}` });
      const bytes = Buffer.from(`${JSON.stringify(answer)} ${secret}`);
      const next = (at: number) => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    },
  );
  await bench.store.teamSecrets.set('TOKEN', secret);
  await start();
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).toContain(
    'HTTP 200, location: /?key=[secret]\n{"message":"got [secret]","link":"https://x.example/[secret]","end":"s3cr3t-"} [secret]',
  );
});

test('shows no secret in the message of a run, and no link that contains one', async () => {
  const { bench, start } = await post(
    { secretHeaders: { 'X-Key': 'KEY' }, responseMessage: '$.message', responseLink: '$.link' },
    (_, response) => response.end('{"message": "got s3cr3t", "link": "https://x.example/s3cr3t"}'),
  );
  await bench.store.teamSecrets.set('KEY', 's3cr3t');
  await start();
  const run = await runThatIs(bench, await recordRun(bench.deliveryLog), { state: 'succeeded' });
  expect(run.report).toEqual({ atMs: expect.any(Number), count: 1, message: 'got [secret]' });
});

test.each([
  [
    [200, 204],
    201,
    { state: 'failed', attempts: 1, error: 'the receiver answered 201, which is not in expectedStatuses' },
  ],
  [[200, 409], 409, { state: 'succeeded', attempts: 1 }],
  [[409], 503, { state: 'failed', attempts: 2, error: 'the receiver answered 503' }],
  [[409], 404, { state: 'failed', attempts: 1, error: 'the receiver answered 404' }],
] as const)('with expectedStatuses %j, %d ends the run so', async (expectedStatuses, status, expected) => {
  const { bench, start } = await post(
    { expectedStatuses },
    (_, response) => response.writeHead(status).end(),
    {
      attempts: 2,
    },
  );
  await start();
  await runThatIs(bench, await recordRun(bench.deliveryLog), expected);
});

const fields = { responseLink: '$.run.html_url', responseMessage: '$.run.id' };

test.each([
  [
    '{"run": {"id": 9007199254740993, "html_url": "https://x.example/1"}}',
    { message: '9007199254740993', link: 'https://x.example/1' },
    '',
  ],
  [
    '{"run": {"id": "Started", "html_url": "javascript:alert(1)"}}',
    { message: 'Started' },
    '(the answer has no http or https URL at $.run.html_url)',
  ],
  [
    '{"run": {"id": {"a": 1}, "html_url": "http://x.example/"}}',
    { link: 'http://x.example/' },
    '(the answer has no text at $.run.id)',
  ],
  [
    `{"run": {"id": "${'é'.repeat(1_001)}", "html_url": "http://x.example/${'y'.repeat(2_000)}"}}`,
    { message: `${'é'.repeat(999)}…` },
    'no http or https URL',
  ],
  ['<html>', undefined, '(the answer has no http or https URL at $.run.html_url and no text at $.run.id)'],
  ['', undefined, 'the answer has no'],
] as const)('shows what the answer %j says of the run', async (answer, report, note) => {
  const { bench, start } = await post(fields, (_, response) => response.writeHead(201).end(answer));
  await start();
  const id = await recordRun(bench.deliveryLog);
  const run = await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });
  const { atMs, count, ...said } = run.report ?? { atMs: 0, count: 1 };
  expect(said).toEqual(report ?? {});
  expect(await outputOf(bench, id)).toContain(note);
});

test('looks for a link only in the first 256 KiB of an answer', async () => {
  const answer = `{"run": {"id": "a", "html_url": "https://x.example"}, "more": "${'y'.repeat(256 * 1024)}"}`;
  const { bench, start } = await post({ ...fields, outputBytes: 100 }, (_, response) => response.end(answer));
  await start();
  const run = await runThatIs(bench, await recordRun(bench.deliveryLog), { state: 'succeeded' });
  expect(run.report).toBeUndefined();
});

/** An attempt at a recorded run, by a runner with another delivery log or other team secrets. */
async function attempt(
  runner: object,
  replace: Partial<Parameters<typeof openDefaultRunner>[1]>,
  signal: AbortSignal,
) {
  const { requests, url, bench } = await post({}, (_, response) => response.end('{"run": {"id": "a"}}'));
  const { store, deliveryLog } = bench;
  const run = await runThatIs(bench, await recordRun(deliveryLog), { state: 'queued' });
  const settings = runSettings({ runner: { kind: 'http', url, ...runner } });
  const given = { environment: {}, store, deliveryLog, nowMs: Date.now, ...replace };
  const deps = {
    deliveryLog,
    runFiles: store.runFiles,
    runner: await openDefaultRunner(settings, given),
  };
  const result = await attemptRun(run, { name: 'triage', prompt: 'Act.' }, deps, signal);
  return { result, requests };
}

test('a report that cannot be recorded does not repeat the run', async () => {
  const recordReport = () => Promise.reject(new DeliveryLogError('failed', 'the disk is full'));
  const { result } = await attempt(fields, { deliveryLog: { recordReport } }, new AbortController().signal);
  expect(result).toMatchObject({
    kind: 'succeeded',
    reason: expect.stringContaining('could not be recorded'),
  });
});

test('a daemon that stops while it opens a team secret sends no request', async () => {
  const stopping = new AbortController();
  const { store } = await openRunBench();
  await store.teamSecrets.set('KEY', 'k');
  const open: typeof store.teamSecrets.open = (...given) => {
    stopping.abort();
    return store.teamSecrets.open(...given);
  };
  const replaced = { store: { ...store, teamSecrets: { ...store.teamSecrets, open } } };
  const { result, requests } = await attempt(
    { secretHeaders: { 'X-Key': 'KEY' } },
    replaced,
    stopping.signal,
  );
  expect(result).toMatchObject({ kind: 'unattempted' });
  expect(requests).toEqual([]);
});
