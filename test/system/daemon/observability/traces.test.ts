import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { Traces } from '../../../../daemon/observability/traces.ts';
import { attemptRun } from '../../../../daemon/runs/run-attempt.ts';
import { replayDelivery } from '../../../../operations/log/deliveries.ts';
import { homeAt } from '../../../../store/home/home.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { applyTriggered } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemonForTest, type TestDaemon } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Answer, send } from '../../../support/http.ts';
import { factoryIn, storeIn } from '../../../support/stored.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';
import { recordRun } from '../runs/record-runs.ts';
import { openRunBench } from '../runs/run-samples.ts';
import { type CollectedSpan, listen, startCollector } from './collector.ts';

const sender = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${sender.traceId}-${sender.spanId}-01`;
const route = '/webhooks/w/{uid}';

/** A webhook `orders` whose deliveries each start a run of the automation `act`; no daemon yet. */
async function prepare() {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace, { act: {} }, { name: 'orders' });
  const store = storeIn(homeAt(workspace.home));
  onTestFinished(() => store.close());
  const post = (
    { ingressUrl }: Pick<TestDaemon, 'ingressUrl'>,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    send(`${ingressUrl}/webhooks/w/${uid}`, { headers: { ...bearerOf(secret), ...headers }, body });
  /** Waits until all runs of the delivery are in this state. */
  const runsThatAre = (state: Run['state'], deliveryId = '', count = 1): Promise<Run[]> =>
    eventually(async () => {
      const runs = await store.deliveries.listRunsOfDelivery(deliveryId);
      return runs.length === count && runs.every(run => run.state === state) ? runs : undefined;
    }) as Promise<Run[]>;
  /** Starts a daemon in this process. */
  const startHere = (settings: object) => startWebhookDaemon({ workspace, settings });
  return { workspace, store, secret, uid, post, runsThatAre, startHere };
}

/** Settings of runs whose command is this shell script. */
function scriptRuns(script: string) {
  return {
    runner: { kind: 'command', argv: ['sh', '-c', script] },
    attempts: 2,
    backOff: { firstSeconds: 0.01, maxSeconds: 0.01 },
  };
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan[] {
  return spans.filter(span => span.name === name);
}

function contextOf({ traceId, spanId }: CollectedSpan) {
  return `00-${traceId}-${spanId}-01`;
}

test('the trace of a trusted sender goes on in the request, its commit, and each attempt at its run', async () => {
  const collector = await startCollector();
  const { workspace, store, post, runsThatAre } = await prepare();
  const coverage = mkdtempSync(join(tmpdir(), 'coverage-'));
  const script = `echo "$TRACEPARENT" >> ${workspace.path('seen')}; [ $(wc -l < ${workspace.path('seen')}) = 2 ]`;
  const daemon = await startDaemonForTest({
    workspace,
    settings: { tracing: { trustSenders: ['loopback'] }, runs: scriptRuns(script) },
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'hooks',
      NODE_V8_COVERAGE: coverage,
    },
  });
  const { deliveryId } = await post(daemon, '{}', { traceparent });
  const [run] = await runsThatAre('succeeded', deliveryId);
  const logged = (await store.deliveries.findDelivery(deliveryId ?? ''))?.headers;
  expect(await daemon.stop()).toBe(0);
  expect(readLoaded(coverage)).toMatch(/\/dist\/traces-/);

  const spans = collector.spans();
  expect(spans.map(({ name }) => name).sort()).toEqual(
    ['commit', `POST ${route}`, 'queue act', 'run act', 'run act'].sort(),
  );
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([sender.traceId]));
  expect(spans.every(({ resource }) => resource['service.name'] === 'hooks')).toBe(true);
  const [request] = named(spans, `POST ${route}`);
  const [commit] = named(spans, 'commit');
  const [queue] = named(spans, 'queue act');
  const attempts = named(spans, 'run act');
  expect(request).toMatchObject({ parentSpanId: sender.spanId, kind: 2 });
  expect(commit?.parentSpanId).toBe(request?.spanId);
  expect(queue?.parentSpanId).toBe(request?.spanId);
  expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([queue?.spanId, queue?.spanId]);
  expect(request?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': route,
    'url.scheme': 'http',
    'http.response.status_code': 202,
    'hookmill.result': 'accepted',
    'hookmill.factory': run?.factory,
    'hookmill.webhook': 'orders',
    'hookmill.delivery.id': deliveryId,
  });
  const [first, second] = attempts;
  expect(first).toMatchObject({ status: { code: 2, message: 'the command exited with status 1' } });
  expect(first?.attributes).toMatchObject({ 'hookmill.run.attempt': 1, 'hookmill.run.result': 'retry' });
  expect(second?.attributes).toMatchObject({
    'messaging.system': 'hookmill',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'act',
    'hookmill.run.id': run?.id,
    'hookmill.run.attempt': 2,
    'hookmill.run.result': 'succeeded',
  });
  expect(workspace.read('seen').trim().split('\n')).toEqual(attempts.map(contextOf));
  expect(logged).toMatchObject({ 'hookmill-traceparent': request && contextOf(request) });
  expect(daemon.stderr()).toContain(`"trace":"${sender.traceId}"`);
});

test('from other senders, and with a header that is not valid, a new trace begins', async () => {
  const collector = await startCollector();
  const { post, runsThatAre, startHere } = await prepare();
  const daemon = await startHere({
    tracing: { endpoint: collector.url, trustSenders: ['10.0.0.0/8'] },
    trustProxies: ['loopback'],
  });
  const untrusted = await post(daemon, '{"n":1}', { traceparent, 'X-Forwarded-For': '192.0.2.1' });
  const invalid = await post(daemon, '{"n":2}', {
    traceparent: `00-${sender.traceId}-0000000000000000-01`,
    'X-Forwarded-For': '10.1.2.3',
  });
  const trusted = await post(daemon, '{"n":3}', { traceparent, 'X-Forwarded-For': '10.1.2.3' });
  const answers = [untrusted, invalid, trusted];
  for (const { deliveryId } of answers) await runsThatAre('succeeded', deliveryId);
  await daemon.stop();

  const spans = collector.spans();
  const tracesOf = ({ deliveryId }: Answer) =>
    new Set(
      spans.filter(span => span.attributes['hookmill.delivery.id'] === deliveryId).map(span => span.traceId),
    );
  for (const answer of answers) expect(tracesOf(answer).size).toBe(1);
  expect(tracesOf(trusted)).toEqual(new Set([sender.traceId]));
  expect(tracesOf(untrusted)).not.toContain(sender.traceId);
  expect(tracesOf(invalid)).not.toContain(sender.traceId);
  expect(tracesOf(invalid)).not.toEqual(tracesOf(untrusted));
  const requests = named(spans, `POST ${route}`);
  expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined, sender.spanId]);
});

test('a receiver gets the trace of the attempt, also from another daemon than that of the request', async () => {
  const collector = await startCollector();
  const { post, runsThatAre, startHere } = await prepare();
  const seen: unknown[] = [];
  let status = 500;
  const url = await listen((request, response) => {
    seen.push(request.headers.traceparent);
    request.resume().on('end', () => response.writeHead(status).end());
  });
  const settings = {
    tracing: { endpoint: collector.url },
    runs: { runner: { kind: 'http', url }, backOff: { firstSeconds: 0.01, maxSeconds: 0.01 }, attempts: 99 },
  };
  const first = await startHere(settings);
  const { deliveryId } = await post(first, '{}');
  await eventually(() => seen.length > 0);
  await first.stop();
  status = 200;
  const second = await startHere(settings);
  await runsThatAre('succeeded', deliveryId);
  await second.stop();

  const spans = collector.spans();
  const attempts = named(spans, 'run act');
  expect(seen).toEqual(attempts.map(contextOf));
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(attempts.map(({ resource }) => resource['service.instance.id'])).size).toBe(2);
  expect(named(spans, 'queue act')).toHaveLength(1);
});

test('a replay has a trace of its own with a link to the request of its delivery', async () => {
  const collector = await startCollector();
  const { workspace, post, runsThatAre, startHere } = await prepare();
  const script = `[ $HOOKMILL_RUN_ID != $(cat ${workspace.path('fails')}) ]`;
  workspace.write('fails', 'none');
  const daemon = await startHere({ tracing: { endpoint: collector.url }, runs: scriptRuns(script) });
  const { deliveryId = '' } = await post(daemon, '{}');
  const [original] = await runsThatAre('succeeded', deliveryId);
  await replayDelivery(factoryIn(homeAt(workspace.home)), deliveryId, undefined);
  const runs = await runsThatAre('succeeded', deliveryId, 2);
  await daemon.stop();

  const replay = runs.find(({ id }) => id !== original?.id);
  const ofRun = (id = '') => collector.spans().filter(span => span.attributes['hookmill.run.id'] === id);
  const [request] = named(collector.spans(), `POST ${route}`);
  const [queue, attempt] = ofRun(replay?.id);
  expect(queue).toMatchObject({ name: 'queue act', attributes: { 'hookmill.run.replay': true } });
  expect(queue?.parentSpanId).toBeUndefined();
  expect(queue?.links).toMatchObject([{ traceId: request?.traceId, spanId: request?.spanId }]);
  expect(attempt).toMatchObject({ traceId: queue?.traceId, parentSpanId: queue?.spanId });
  expect(queue?.traceId).not.toBe(request?.traceId);
  expect(ofRun(original?.id).every(({ traceId }) => traceId === request?.traceId)).toBe(true);
});

test('no span contains a payload, a credential, a header, a path or a UID', async () => {
  const collector = await startCollector();
  const { secret, uid, post, runsThatAre, startHere } = await prepare();
  const daemon = await startHere({ tracing: { endpoint: collector.url, trustSenders: ['loopback'] } });
  const marker = 'c4n4ry';
  const headers = {
    'User-Agent': marker,
    tracestate: `${marker}=${marker}`,
    'X-Service-Delivery-Id': marker,
  };
  const { deliveryId } = await post(daemon, JSON.stringify({ [marker]: marker }), {
    ...headers,
    traceparent,
  });
  await runsThatAre('succeeded', deliveryId);
  await post(daemon, marker, headers);
  await post(daemon, '{}', { ...headers, authorization: `Bearer ${marker}` });
  await send(`${daemon.ingressUrl}/webhooks/w/${marker}?${marker}`, { method: 'PUT' });
  await daemon.stop();

  const results = collector.spans().map(({ attributes }) => attributes['hookmill.result']);
  expect(results).toEqual(expect.arrayContaining(['accepted', 'invalid-json', 'unauthorized']));
  for (const kept of [marker, secret, uid]) expect(collector.text()).not.toContain(kept);
});

test('a collector that cannot be reached costs nothing but the spans, which are counted', async () => {
  const { post, runsThatAre, startHere } = await prepare();
  // It takes connections, and never answers.
  const endpoint = await listen(() => undefined);
  const daemon = await startHere({ tracing: { endpoint } });
  const { status, deliveryId } = await post(daemon, '{}');
  expect(status).toBe(202);
  await runsThatAre('succeeded', deliveryId);
  // Looks seldom, because the daemon gives up only after seconds.
  await expect.poll(daemon.metrics, { interval: 500 }).toMatch(/^hookmill_spans_dropped_total 4$/m);
  await daemon.stop();
  expect(daemon.logged()).toMatch(/"spans":4,.*dropped spans/);
});

function openTraces(endpoint: string): Traces {
  return new Traces({
    settings: { endpoint, sampleRatio: 1 },
    isTrusted: () => false,
    daemonId: 'daemon',
    log: pino({ level: 'silent' }),
    monotonicMs: () => 0,
  });
}

test('no more spans wait for a collector than the limit; the others are counted at once', async () => {
  const endpoint = await listen(() => undefined);
  const traces = openTraces(endpoint);
  for (let request = 0; request < 3_000; request++) {
    traces.beginRequest({ method: 'POST', headers: {} } as IncomingMessage).end(404);
  }
  expect(traces.dropped()).toBe(3_000 - 2_048);
  await traces.close();
  expect(traces.dropped()).toBe(3_000);
});

test('an attempt that hookmill itself cannot begin ends its span', async () => {
  const collector = await startCollector();
  const { store, deliveryLog } = await openRunBench();
  const run = await store.deliveries.findRun(await recordRun(deliveryLog));
  if (!run) throw new Error('the run is gone');
  const traces = openTraces(collector.url);
  const execute = () => Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  const runner = { execute, keep: false };
  const deps = { deliveryLog, runFiles: store.runFiles, runner, traces };
  const reason = 'the run could not be executed (EMFILE)';
  const attempted = await attemptRun(
    run,
    { name: 'triage', prompt: 'Act.' },
    deps,
    new AbortController().signal,
  );
  expect(attempted).toEqual({ kind: 'unattempted', reason });
  await traces.close();
  const [span] = named(collector.spans(), 'run triage');
  expect(span).toMatchObject({ status: { code: 2, message: reason } });
  expect(span?.attributes).toMatchObject({ 'hookmill.run.result': 'unattempted' });
});

test('traces that are not sampled are not sent, and programs are told so', async () => {
  const collector = await startCollector();
  const { workspace, post, runsThatAre, startHere } = await prepare();
  const runs = scriptRuns(`echo "$TRACEPARENT" >> ${workspace.path('seen')}`);
  const daemon = await startHere({ tracing: { endpoint: collector.url, sampleRatio: 0 }, runs });
  const { deliveryId } = await post(daemon, '{}');
  await runsThatAre('succeeded', deliveryId);
  await daemon.stop();
  expect(collector.spans()).toEqual([]);
  expect(workspace.read('seen')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00\n$/);
});

/** The scripts that a process has loaded, from what `NODE_V8_COVERAGE` made it write. */
function readLoaded(coverage: string): string {
  return readdirSync(coverage)
    .map(file => readFileSync(join(coverage, file), 'utf8'))
    .join('\n');
}

test('a daemon that does not trace loads nothing for it, and stores and passes on nothing', async () => {
  const { workspace, store, post, runsThatAre } = await prepare();
  const coverage = mkdtempSync(join(tmpdir(), 'coverage-'));
  const runs = scriptRuns(`echo "$TRACEPARENT" >> ${workspace.path('seen')}`);
  const env = { NODE_V8_COVERAGE: coverage };
  const daemon = await startDaemonForTest({ workspace, settings: { runs }, env });
  const { deliveryId = '' } = await post(daemon, '{}', { traceparent });
  await runsThatAre('succeeded', deliveryId);
  await daemon.stop();
  const loaded = readLoaded(coverage);
  expect(loaded).toMatch(/\/dist\/daemon-/);
  expect(loaded).not.toMatch(/\/dist\/traces-|@opentelemetry/);
  expect(Object.keys((await store.deliveries.findDelivery(deliveryId))?.headers ?? {})).not.toContain(
    'hookmill-traceparent',
  );
  expect(workspace.read('seen')).toBe('\n');
});
