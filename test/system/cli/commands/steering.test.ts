import { expect, test } from 'vitest';
import { applyTriggered } from '../../../support/apply-triggered.ts';
import { bearerOf } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type RunResult } from '../../../support/workspace.ts';

/** A workspace with a daemon, the automations act, order (one run after the other) and other, and a way to send. */
async function start() {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace, {
    act: {},
    order: { order: '$.issue' },
    other: {},
  });
  const runner = { kind: 'command', argv: ['sleep', '600'] };
  const daemon = await startWebhookDaemon({ workspace, settings: { runs: { runner, concurrency: 9 } } });
  const deliver = async (n = 0) => {
    const sent = { headers: bearerOf(secret), body: JSON.stringify({ issue: 1, n }) };
    expect((await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, sent)).status).toBe(202);
  };
  const list = async (...args: string[]) => {
    const { stdout } = await workspace.hookmill('runs', 'list', '-o', 'json', ...args);
    return JSON.parse(stdout) as { id: string; automation: string; state: string; waitsFor?: string }[];
  };
  const statesOf = async (automation: string) =>
    (await list('--automation', automation)).map(({ state, waitsFor }) => waitsFor ?? state);
  return { workspace, deliver, list, statesOf };
}

const last = ({ stderr }: RunResult) => stderr.trim().split('\n').at(-1);

test('a paused automation records runs and starts none, says so everywhere, and goes on when it is resumed', async () => {
  const { workspace, deliver, statesOf } = await start();
  const { hookmill } = workspace;
  expect(last(await hookmill('automations', 'pause', 'act'))).toBe(
    'act is paused. `hookmill automations resume act` ends that.',
  );
  await deliver();
  await expect.poll(() => statesOf('act')).toEqual(['paused']);
  await expect.poll(() => statesOf('other')).toEqual(['running']);

  expect((await hookmill('automations', 'list')).stdout).toMatch(/^act +yes, paused by \S+ +hook$/m);
  expect((await hookmill('automations', 'show', 'act')).stdout).toMatch(
    /^paused +since 2\S+Z, paused by \S+$/m,
  );
  expect((await hookmill('webhooks', 'show', 'hook')).stdout).toMatch(/^paused +act, by \S+ since 2\S+Z$/m);
  expect((await hookmill('runs', 'list', '--automation', 'act')).stdout).toContain(
    'queued (its automation is paused)',
  );
  const why = (await hookmill('why', 'hook')).stdout;
  expect(why).toMatch(/waits, because its automation is paused, paused by \S+ since/);
  expect(why).toContain('hookmill automations resume act');

  const changed = await hookmill('automations', 'pause', 'act', '--for', '2h', '-o', 'json');
  const { at, until } = JSON.parse(changed.stdout);
  expect(Date.parse(until) - Date.parse(at)).toBeGreaterThanOrEqual(2 * 3_600_000);
  expect((await hookmill('automations', 'pause', 'act', '--for', 'soon')).exitCode).toBe(2);
  expect(await hookmill('automations', 'pause', 'unknown')).toMatchObject({ exitCode: 1, stdout: '' });

  expect(last(await hookmill('automations', 'resume', 'act'))).toBe('act is no longer paused.');
  await expect.poll(() => statesOf('act')).toEqual(['running']);
  const again = await hookmill('automations', 'resume', 'act');
  expect(again).toMatchObject({ exitCode: 1 });
  expect(again.stderr).toContain('act is not paused');
  const { stdout: audit } = await hookmill('audit');
  expect(audit).toMatch(/resume automation +act/);
  expect(audit).toMatch(/pause automation +act/);
});

test('a plan says which changed keys queued runs keep and what a destroyed automation leaves, and they can be cancelled', async () => {
  const { workspace, deliver, list, statesOf } = await start();
  const { hookmill, read, write } = workspace;
  for (let n = 0; n < 3; n++) await deliver(n);
  await expect.poll(() => statesOf('order')).toEqual(['order', 'order', 'running']);
  const change = async (automation: string, keys: object, ...words: string[]) => {
    const file = `automations/${automation}.yaml`;
    const before = read(file);
    write(file, JSON.stringify({ ...JSON.parse(before), ...keys }));
    const { stdout } = await hookmill('plan', ...words);
    write(file, before);
    return stdout;
  };
  expect(await change('order', { concurrency: 2 })).toContain(
    '2 runs that wait keep the `concurrency` with which they were recorded',
  );
  const several = { attempts: 3, concurrency: 2, debounce: { for: '5s' } };
  expect(await change('order', several)).toContain(
    '2 runs that wait keep the `attempts`, `concurrency` and `debounce` with which they were recorded',
  );
  const { changes } = JSON.parse(await change('order', { timeLimit: '5m' }, '-o', 'json'));
  expect(changes.find(({ name }: { name: string }) => name === 'order').impact).toMatchObject({
    ...{ judged: 0, queued: 2, kept: ['timeLimit'] },
  });
  const row = await change('order', { timeLimit: '5m', prompt: 'Other.' }, '-o', 'markdown');
  expect(row).toMatch(/changes prompt, timeLimit<br>2 runs that wait keep the .*timeLimit/);

  // Other keys, and an automation without queued runs.
  expect(await change('order', { enabled: false })).not.toContain('recorded');
  expect(await change('act', { timeLimit: '5m' })).toMatch(/~ automation act\n {4}[~+] timeLimit.*\n\nPlan/);

  await expect.poll(() => statesOf('act')).toEqual(['running', 'running', 'running']);
  const waiting = (await list('--automation', 'order'))[0]?.id ?? '';
  expect((await hookmill('why', waiting)).stdout).toMatch(
    /waits for an earlier run: run_\w+ has been running since/,
  );

  workspace.remove('automations/order.yaml');
  const leaves = '2 queued runs of it start all the same: `hookmill runs cancel` prevents that';
  expect((await hookmill('plan')).stdout).toContain(leaves);
  await hookmill('apply', '--yes');

  const only = ['--automation', 'order', '--state', 'queued'];
  const dry = await hookmill('runs', 'cancel', ...only, '--dry-run');
  expect(last(dry)).toBe('2 runs to cancel.');
  const unconfirmed = await hookmill('runs', 'cancel', ...only);
  expect(unconfirmed).toMatchObject({ exitCode: 1 });
  expect(unconfirmed.stderr).toContain('2 runs to cancel; nothing was cancelled');
  const reason = ['--reason', 'the wrong branch'];
  expect(last(await hookmill('runs', 'cancel', ...only, '--yes', ...reason))).toBe('2 of 2 runs cancelled.');
  const [cancelled] = JSON.parse(
    (await hookmill('runs', 'list', '--state', 'cancelled', '-o', 'json')).stdout,
  );
  expect(cancelled.cancel).toMatchObject({ reason: 'the wrong branch' });
  expect((await hookmill('runs', 'show', cancelled.id)).stdout).toMatch(
    /^cancelled +2\S+ by \S+: the wrong branch$/m,
  );
  expect((await hookmill('why', cancelled.id)).stdout).toContain('the wrong branch');
  expect(await statesOf('order')).toEqual(['cancelled', 'cancelled', 'running']);

  // Without a state, all that have not ended.
  const everything = await hookmill('runs', 'cancel', '--since', '1h', '--yes', '-o', 'json');
  expect(JSON.parse(everything.stdout)).toMatchObject({ matched: 7, cancelled: 7, refused: [], rest: 0 });
  await expect
    .poll(async () => new Set((await list()).map(({ state }) => state)))
    .toEqual(new Set(['cancelled']));
  const shown = (await hookmill('runs', 'show', waiting)).stdout;
  expect(shown).toMatch(/^cancelled +2\S+Z by \S+: the wrong branch$/m);
  expect((await hookmill('runs', 'cancel', waiting, 'run_unknown')).stderr).toContain(
    `the run ${waiting} was cancelled; only a run that has not ended can be cancelled`,
  );
  expect((await hookmill('runs', 'retry', waiting)).stderr).toContain('was cancelled; only failed runs');
});
