import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { toClaim } from '../../../../daemon/runs/runners/runner.ts';
import { homeAt } from '../../../../store/home/home.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemon, startDaemonForTest } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { connectTo, send } from '../../../support/http.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { storeIn } from '../../../support/stored.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

/** An agent on loopback that takes each attempt on and reports later, if it can. */
async function startAgent(answer?: (response: ServerResponse, callback: string) => Promise<void>) {
  const attempts: IncomingHttpHeaders[] = [];
  const origin = await startLoopbackServer(async (request, response) => {
    request.resume();
    await once(request, 'end');
    attempts.push(request.headers);
    if (answer) await answer(response, String(request.headers['hookmill-callback']));
    else response.writeHead(202, { 'hookmill-callback': 'accepted' }).end('taken on');
  });
  const callbackOf = (attempt: number) =>
    eventually(() => attempts[attempt - 1]).then(headers => String(headers['hookmill-callback']));
  return { url: `${origin}/`, attempts, callbackOf };
}

async function report(callback: string, body: unknown, method = 'POST') {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(callback, { method, ...(method === 'POST' && { body: sent }) });
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

/** A workspace with one webhook and one automation, and what starts a daemon that posts its runs to `url`. */
async function prepare(url: string, runs: object = {}, callback: object = {}) {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace);
  // The URL of a callback must lead to the next daemon too.
  const port = await findFreePort();
  const settings = {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    runs: {
      runner: { kind: 'http', url, callback },
      backOff: { firstSeconds: 0.001, maxSeconds: 0.001 },
      ...runs,
    },
  };
  const run = () => readNewestRun(workspace);
  const deliver = async () => {
    const sent = { headers: bearerOf(secret), body: '{}' };
    expect((await send(`${settings.baseUrl}/webhooks/w/${uid}`, sent)).status).toBe(202);
  };
  const runThatIs = (expected: object) => expect.poll(run).toMatchObject(expected);
  return {
    workspace,
    start: { workspace, settings, args: ['--port', String(port)] },
    deliver,
    run,
    runThatIs,
  };
}

test('waits for the receiver that goes on, also when the daemon is killed, and shows what it reports', async () => {
  const agent = await startAgent();
  const { workspace, start, deliver, run, runThatIs } = await prepare(agent.url);
  const killed = await startDaemon(start);
  await deliver();
  const callback = await agent.callbackOf(1);
  await runThatIs({ state: 'running', waitsUntilMs: expect.any(Number) });
  await killed.stop('SIGKILL');

  const daemon = await startDaemonForTest(start);
  const link = 'https://agents.example.com/1';
  expect(await report(callback, { state: 'running', message: 'Begun', link })).toMatchObject({ status: 204 });
  expect(await report(callback, { state: 'running', message: 'Half\tdone' })).toMatchObject({ status: 204 });
  await runThatIs({ state: 'running', attempts: 1, report: { message: 'Half\tdone', link, count: 2 } });
  const { id = '' } = (await run()) ?? {};
  const show = async () => (await workspace.hookmill('runs', 'show', id)).stdout;
  expect(await show()).toMatch(/^report +Half\\x09done$/m);
  expect((await workspace.hookmill('runs', 'list')).stdout).toContain('Half\\x09done');
  const end = { state: 'succeeded', message: 'Done', link: 'https://agents.example.com/2' };
  expect(await report(callback, end)).toMatchObject({ status: 204 });
  await runThatIs({ state: 'succeeded', attempts: 1 });
  expect(await show()).toMatch(/^link +https:\/\/agents\.example\.com\/2$/m);
  const log = (await workspace.hookmill('runs', 'logs', id)).stdout;
  expect(log).toMatch(/report of attempt 1 at .*\]\nHalf\tdone\n\[hookmill: running\]/);
  expect(log).toMatch(/\nDone\nhttps:\/\/agents\.example\.com\/2\n\[hookmill: succeeded\]\n$/);

  expect(await report(callback, end)).toMatchObject({ status: 410, type: 'application/problem+json' });
  expect(agent.attempts).toHaveLength(1);
  const token = callback.split('/').at(-1) ?? '';
  expect(killed.stdout() + killed.stderr() + daemon.stdout() + daemon.stderr()).not.toContain(token);
});

test('attempts a run again whose receiver reports a failure, and refuses the late twin', async () => {
  const agent = await startAgent();
  const { start, deliver, runThatIs } = await prepare(agent.url, { attempts: 2 });
  await startWebhookDaemon(start);
  await deliver();
  const first = await agent.callbackOf(1);
  expect(await report(first, { state: 'failed' })).toMatchObject({ status: 204 });
  const second = await agent.callbackOf(2);
  await runThatIs({ attempts: 2, error: 'the receiver reported that it failed' });
  expect(await report(first, { state: 'succeeded' })).toMatchObject({ status: 410 });
  expect(await report(second, { state: 'failed', message: 'no access' })).toMatchObject({ status: 204 });
  await runThatIs({ state: 'failed', attempts: 2, error: 'the receiver reported: no access' });
});

test('shows no secret that a receiver reports, in whatever daemon and form, and no word if they cannot be read', async () => {
  const agent = await startAgent();
  const secretHeaders = { 'X-Key': 'KEY' };
  const runner = { kind: 'http', url: agent.url, callback: {}, secretHeaders };
  const { workspace, start, deliver, run, runThatIs } = await prepare(agent.url, { runner, attempts: 2 });
  const secret = 's3cr3t/of+the=receiver';
  const setKey = (stdin: string) => workspace.hookmill('secrets', 'set', 'KEY', { stdin });
  await setKey(secret);
  const first = await startDaemon(start);
  await deliver();
  const callback = await agent.callbackOf(1);
  await runThatIs({ state: 'running', waitsUntilMs: expect.any(Number) });
  await first.stop();
  await startDaemonForTest(start);
  const token = callback.split('/').at(-1) ?? '';
  const base64 = Buffer.from(secret).toString('base64');
  const message = `got ${secret}, ${base64} and ${token}`;
  const link = `https://x.example/?key=${encodeURIComponent(secret)}`;
  expect(await report(callback, { state: 'running', message, link })).toMatchObject({ status: 204 });
  await runThatIs({ report: { message: 'got [secret], [secret] and [secret]', count: 1 } });
  expect(await report(callback, { state: 'failed', message, link })).toMatchObject({ status: 204 });
  const second = await agent.callbackOf(2);
  await runThatIs({ attempts: 2, error: 'the receiver reported: got [secret], [secret] and [secret]' });
  const { id = '' } = (await run()) ?? {};
  const shown = await Promise.all(['show', 'logs'].map(verb => workspace.hookmill('runs', verb, id)));
  const text = JSON.stringify([shown, await run()]);
  for (const word of [secret, base64, encodeURIComponent(secret), token]) expect(text).not.toContain(word);
  const removed = await workspace.hookmill('secrets', 'remove', 'KEY');
  expect(removed).toMatchObject({ exitCode: 0 });
  expect(await report(second, { state: 'failed', message })).toMatchObject({ status: 204 });
  await runThatIs({ state: 'failed', error: expect.stringMatching(/^the receiver reported: \(left out: /) });
});

test('takes 1,000 reports of an attempt, however many come at once, and then only its end', async () => {
  const agent = await startAgent();
  const { workspace, start, deliver, run, runThatIs } = await prepare(agent.url);
  await startWebhookDaemon(start);
  await deliver();
  const callback = await agent.callbackOf(1);
  await runThatIs({ state: 'running', waitsUntilMs: expect.any(Number) });
  const store = storeIn(homeAt(workspace.home));
  onTestFinished(() => store.close());
  const writing = await store.openDeliveryLog();
  const waiting = (await run()) as Run;
  const kept = { ...toClaim(waiting), report: { atMs: 0 }, countMax: 1_000 };
  await Promise.all(Array.from({ length: 980 }, () => writing.recordReport(kept)));
  await writing.close();
  const sent = Array.from({ length: 40 }, () => report(callback, { state: 'running' }));
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  const count = (status: number) => statuses.filter(one => one === status).length;
  expect([count(204), count(429)]).toEqual([20, 20]);
  await runThatIs({ state: 'running', report: { count: 1_000 } });
  expect(await report(callback, { state: 'succeeded' })).toMatchObject({ status: 204 });
  await runThatIs({ state: 'succeeded' });
  const output = await store.runFiles.readOutput(waiting.id);
  const log = await new Response(output?.stream as unknown as ReadableStream).text();
  expect(log.match(/\[hookmill: running\]/g)).toHaveLength(20);
});

test('attempts a run again whose receiver does not report in time', async () => {
  const agent = await startAgent();
  const { start, deliver, runThatIs } = await prepare(agent.url, { attempts: 2 }, { timeLimitSeconds: 0.1 });
  await startWebhookDaemon(start);
  await deliver();
  const error = 'the receiver did not report the end within 0.1 s';
  await runThatIs({ state: 'failed', attempts: 2, error });
  expect(await report(await agent.callbackOf(2), { state: 'succeeded' })).toMatchObject({ status: 410 });
});

test('refuses invalid reports, and takes a 202 without Hookmill-Callback for success', async () => {
  const agent = await startAgent(async (response, callback) => {
    // It may even report before it answers.
    expect((await report(callback, { state: 'running' })).status).toBe(204);
    response.writeHead(202).end();
  });
  const { start, deliver, runThatIs } = await prepare(agent.url);
  await startWebhookDaemon(start);
  await deliver();
  const callback = await agent.callbackOf(1);
  await runThatIs({ state: 'succeeded' });

  const wrong = callback.replace(/.$/, last => (last === 'A' ? 'E' : 'A'));
  for (const url of [wrong, callback.replace('/1/', '/2/'), `${callback}/`, callback.replace(/\/[^/]+$/, '')])
    expect(await report(url, { state: 'succeeded' })).toMatchObject({
      status: 404,
      type: 'application/problem+json',
    });
  expect(await report(callback, undefined, 'GET')).toMatchObject({ status: 405 });
  const invalid = [
    ...['', 'null', '{', { state: 'done' }, { state: 'failed', more: 1 }],
    ...[
      { state: 'failed', message: 'x'.repeat(1_001) },
      { state: 'failed', link: 'javascript:alert(1)' },
    ],
  ];
  for (const body of invalid) {
    const { status, body: problem } = await report(callback, body);
    expect({ status, problem }).toEqual({
      status: 400,
      problem: expect.stringMatching(/at most 1000 characters.*http or https/),
    });
  }
  expect(await report(callback, 'x'.repeat(40_000))).toMatchObject({ status: 413 });
});

test('takes a report whose client waits for 100 Continue', async () => {
  const agent = await startAgent();
  const { start, deliver, runThatIs } = await prepare(agent.url);
  await startWebhookDaemon(start);
  await deliver();
  const callback = await agent.callbackOf(1);
  const body = JSON.stringify({ state: 'succeeded' });
  const connection = await connectTo(callback);
  connection.write(
    `POST ${new URL(callback).pathname} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await connection.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  connection.write(body);
  await connection.receives(/HTTP\/1\.1 204 /);
  await runThatIs({ state: 'succeeded' });
});

test('names a URL of its own to receivers, which may end with a slash', async () => {
  const agent = await startAgent();
  const { start, deliver } = await prepare(agent.url, {}, { url: 'https://hooks.internal.example/' });
  await startWebhookDaemon(start);
  await deliver();
  expect(await agent.callbackOf(1)).toMatch(/^https:\/\/hooks\.internal\.example\/callbacks\/run_/);
});
