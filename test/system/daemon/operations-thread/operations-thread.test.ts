import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { ThreadAnswer, ThreadRequest } from '../../../../daemon/management/api/thread-request.ts';
import { openOperationsThread } from '../../../../daemon/operations-thread/operations-thread.ts';
import { makeRunVerbs } from '../../../../operations/factory.ts';
import type { CallableId } from '../../../../schema/api/routes.ts';
import { toOwnBaseUrl } from '../../../../schema/ingress-url.ts';
import { appliedStateFile } from '../../../../store/home/home.ts';
import { newHome } from '../../../support/factory.ts';
import { areHomesInPostgres } from '../../../support/home-place.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { storeIn } from '../../../support/stored.ts';

const trigger = {
  provider: 'webhook',
  event: 'received',
  filter: { webhook_ids: ['wh_0123456789abcdefghijklmn'] },
};

/** Takes seconds to parse, and as long again to plan, because each trigger gets a warning with its place. */
const largeFiles = Array.from({ length: 4_000 }, (_, index) => ({
  path: `automations/a${index}.yaml`,
  content: JSON.stringify({ prompt: 'p'.repeat(200), triggers: [trigger, trigger, trigger] }),
}));

/** Few bytes, with so many mistakes that the thread has no memory for what it says of them. */
const filesOfMistakes = Array.from({ length: 120 }, (_, index) => ({
  path: `automations/a${index}.yaml`,
  content: `prompt: [${'*a, '.repeat(12_000)}]\n`,
}));

function request(id: CallableId, body?: object): ThreadRequest {
  const grants = [{ factory: null, permission: 'manage' } as const];
  return {
    ...{ id, params: { factory: 'default' }, query: {}, ifSerial: undefined, problem: null },
    body: body && Buffer.from(JSON.stringify(body)),
    ...{ grants, expiresAt: null, permission: 'manage' },
    ...{
      baseUrl: toOwnBaseUrl('http://127.0.0.1:8080'),
      listensAt: null,
      nowMs: 1_750_000_000_000,
      change: undefined,
    },
  };
}

function openBench(home = newHome()) {
  const limits = { operationMs: 600_000 };
  const fail = async () => {
    throw new Error('nothing is written to the log here');
  };
  const deliveryLog = {
    ...makeRunVerbs(() => fail),
    ...{ recordTallies: fail, recordHealth: fail },
  };
  const options = { place: storeIn(home).place, deliveryLog };
  const thread = openOperationsThread(Object.assign(limits, options));
  onTestFinished(() => thread.close());
  const answer = (asked: ThreadRequest, turn: string) =>
    thread.run('answerRequest', asked, turn) as Promise<ThreadAnswer>;
  return { home, limits, thread, answer };
}

test('stops an operation that takes too long with a problem that says so, and goes on with the next one', async () => {
  const { limits, answer } = openBench();
  expect(await answer(request('listAutomations'), 'a')).toMatchObject({ ok: true });
  limits.operationMs = 50;
  const stopped = answer(request('plan', { files: largeFiles }), 'a');
  limits.operationMs = 600_000;
  const next = answer(request('listAutomations'), 'a');
  await expect(stopped).rejects.toMatchObject({ code: 'takes-too-long' });
  expect(await next).toMatchObject({ ok: true, serial: 0 });
});

// The test looks at the files of the lock and the state.
test.skipIf(areHomesInPostgres())(
  'frees the lock and leaves the old state if it ends in the middle of an apply',
  async () => {
    const { home, thread, answer } = openBench();
    const apply = request('apply', { files: largeFiles, origin: '/x' });
    const ended = expect(answer(apply, 'a')).rejects.toMatchObject({ code: 'takes-too-long' });
    const file = appliedStateFile(home, 'default');
    await expect.poll(() => existsSync(`${file}.lock-holder`)).toBe(true);
    await thread.close();
    await ended;
    expect(existsSync(file)).toBe(false);

    const small = request('apply', { files: largeFiles.slice(0, 1), origin: '/x' });
    expect(await openBench(home).answer(small, 'a')).toMatchObject({ ok: true, serial: 1 });
  },
);

test('lets the callers take turns, and refuses a caller with too many requests waiting', async () => {
  const { answer } = openBench();
  const order: string[] = [];
  const ask = async (turn: string) => {
    await answer(request('listAutomations'), turn);
    order.push(turn);
  };
  // The first one runs at once; 16 may wait.
  const greedy = Array.from({ length: 17 }, () => ask('greedy'));
  await expect(ask('greedy')).rejects.toMatchObject({ code: 'requests-waiting' });
  await Promise.all([...greedy, ask('modest')]);
  expect(order.slice(0, 3)).toContain('modest');
});

test('answers each of two requests at once with what is its own', async () => {
  const { home, answer } = openBench();
  const [value, started] = [join(home.directory, '..', 'value'), join(home.directory, '..', 'started')];
  const script = `until cat ${value} 2>&-; do touch ${started}; sleep 0.02; done`;
  const { teamSecrets } = storeIn(home);
  await teamSecrets.refer('KEPT', `exec:${JSON.stringify(['/bin/sh', '-c', script])}`, null);
  writeFileSync(value, 'a value that nobody guesses');
  const files = [{ path: 'webhooks/a.yaml', content: 'secretName: KEPT\n' }];
  await answer(request('apply', { files, origin: '/x' }), 'a');
  rmSync(value);
  const changed = [{ path: 'webhooks/a.yaml', content: 'secretName: KEPT\nenabled: false\n' }];
  const urlsOf = (answered: ThreadAnswer) =>
    answered.ok && /http:\/\/\w+/.exec(Buffer.from(answered.json ?? []).toString())?.[0];
  const first = answer(
    { ...request('plan', { files: changed }), baseUrl: toOwnBaseUrl('http://first') },
    'a',
  );
  await expect.poll(() => existsSync(started)).toBe(true);
  const second = await answer({ ...request('listWebhooks'), baseUrl: toOwnBaseUrl('http://second') }, 'b');
  writeFileSync(value, 'a value that nobody guesses');
  expect([urlsOf(await first), urlsOf(second)]).toEqual(['http://first', 'http://second']);
});

/** A bench whose webhook `a` has a team secret that a command reads as soon as the file exists, and has begun to. */
async function openWaiting() {
  const bench = openBench();
  const [value, started] = [
    join(bench.home.directory, '..', 'value'),
    join(bench.home.directory, '..', 'started'),
  ];
  const script = `until [ -e ${value} ]; do touch ${started}; sleep 0.02; done; cat ${value}`;
  const store = storeIn(bench.home);
  await store.teamSecrets.refer('KEPT', `exec:${JSON.stringify(['/bin/sh', '-c', script])}`, null);
  await store.teamSecrets.set('SET', 'a value that nobody guesses');
  const files = [{ path: 'webhooks/a.yaml', content: 'secretName: SET\n' }];
  await bench.answer(request('apply', { files, origin: '/x' }), 'a');
  /** Stops a plan of another caller by its time. */
  const stopOther = async () => {
    bench.limits.operationMs = 50;
    const stopped = bench.answer(request('plan', { files: largeFiles }), 'greedy');
    bench.limits.operationMs = 600_000;
    await expect(stopped).rejects.toMatchObject({ code: 'takes-too-long' });
  };
  /** Lets a plan of another caller need more memory than the thread has. */
  const endByMemory = () =>
    expect(bench.answer(request('plan', { files: filesOfMistakes }), 'greedy')).rejects.toMatchObject({
      code: 'takes-too-long',
    });
  return { ...bench, store, value, started, endings: { 'its time': stopOther, 'its memory': endByMemory } };
}

// To fill the memory of the thread takes half a minute on a slow machine.
const endings = ['its time', ...(inject('isLong') ? ['its memory' as const] : [])] as const;

test.each(endings)(
  'answers a request that waits for another process although another operation was ended by %s meanwhile',
  async by => {
    const { answer, value, started, endings } = await openWaiting();
    const files = [{ path: 'webhooks/a.yaml', content: 'secretName: KEPT\n' }];
    const waiting = answer(request('plan', { files }), 'modest');
    await expect.poll(() => existsSync(started)).toBe(true);
    await endings[by]();
    writeFileSync(value, 'a value that nobody guesses');
    expect(await waiting).toMatchObject({ ok: true, serial: 1 });
  },
);

test('says that the end of a change is unknown if it was stopped while it waited for another machine', async () => {
  const { answer, store, endings } = await openWaiting();
  const asked = Promise.withResolvers<void>();
  const listensAt = await startLoopbackServer(() => asked.resolve());
  const [webhook] = (await store.appliedStates.read('default')).webhooks;
  const params = { factory: 'default', uid: webhook?.uid ?? '' };
  const who = { kind: 'token' as const, name: 'ci' };
  const change = { who, from: '192.0.2.1', operation: 'sendTest', factory: 'default', subject: 'a' };
  const test = { ...request('sendTest', { mayStartRuns: true }), params, listensAt, change };
  const changing = expect(answer(test, 'modest')).rejects.toMatchObject({ code: 'change-interrupted' });
  await asked.promise;
  await endings['its time']();
  await changing;
  expect(await store.auditLog.list({ limit: 1 })).toMatchObject([
    { operation: 'sendTest', unfinished: true },
  ]);
});

test('says what is wrong with a request, and what failed', async () => {
  const { answer } = openBench();
  const invalid = { ok: false, code: 'request-invalid', parts: { mistakes: [{ pointer: '/files' }] } };
  expect(await answer(request('plan', { files: 1 }), 'a')).toMatchObject(invalid);
  const unreadable = { ...request('plan'), body: Buffer.from('{') };
  expect(await answer(unreadable, 'a')).toMatchObject({ ok: false, code: 'body-unreadable' });
});
