import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { hasStrace, signalAt } from '../../../../support/strace.ts';
import { testLimitMs } from '../../../../support/test-limit.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const appliedFile = '.hookmill/applied/default.json';

async function withSecret(): Promise<Workspace> {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'a-secret-of-some-length' });
  return workspace;
}

test('two applies at once both end well: one applies, the other finds nothing to do', async () => {
  const workspace = await withSecret();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const results = await Promise.all([workspace.hookmill('apply'), workspace.hookmill('apply')]);
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(results.map(({ stdout }) => stdout.split('\n')[0]).sort()).toEqual([
    '+ webhook a',
    'No changes. The applied state matches the definitions.',
  ]);
  expect(JSON.parse(workspace.read(appliedFile))).toMatchObject({ serial: 1 });
});

test('four secrets set at once, the first ever of their home, are all kept and open with one key', async () => {
  const workspace = makeWorkspace();
  const names = Array.from({ length: 4 }, (_, i) => `SECRET_${i}`);
  const set = names.map(name => workspace.hookmill('secrets', 'set', name, { stdin: `value-of-${name}` }));
  expect((await Promise.all(set)).map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
  for (const name of names)
    workspace.write(`webhooks/${name.toLowerCase().replace('_', '-')}.yaml`, `secretName: ${name}\n`);
  const { exitCode } = await workspace.hookmill('apply');
  expect(exitCode).toBe(0);
  const { webhooks } = JSON.parse(workspace.read(appliedFile));
  expect(webhooks.map(({ secretName }: { secretName: string }) => secretName)).toEqual(names);
});

test('three applies to three factories of one home do not wait for each other, nor mix', async () => {
  const workspace = await withSecret();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const factories = Array.from({ length: 3 }, (_, i) => `factory-${i}`);
  await workspace.hookmill('secrets', 'share', 'TOKEN', '--all-factories');
  const applies = factories.map(name =>
    workspace.hookmill('apply', '--factory', name, '--lock-timeout', '0'),
  );
  expect((await Promise.all(applies)).map(({ exitCode }) => exitCode)).toEqual(factories.map(() => 0));
  const uids = factories.map(name => {
    const state = JSON.parse(workspace.read(`.hookmill/applied/${name}.json`));
    expect(state.factory).toBe(name);
    return state.webhooks[0].uid;
  });
  expect(new Set(uids).size).toBe(3);
});

test('an apply that is stopped while it holds the lock makes the next one fail after its time-out, and loses nothing', async ({
  skip,
}) => {
  skip(!hasStrace, 'needs strace');
  const workspace = await withSecret();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('apply');
  workspace.write('webhooks/b.yaml', 'secretName: TOKEN\n');
  // Stopped before its first rename: it holds the lock and has the new state in a temporary file.
  const stopped = workspace.start(['apply'], { through: signalAt('rename', 'SIGSTOP', 1) });
  const holder = await holderOf(workspace);
  const refused = await workspace.hookmill('apply', '--lock-timeout', '0');
  expect(refused.stderr).toMatch(
    new RegExp(`default\\.json is locked by hookmill apply \\(pid ${holder}, since `),
  );
  expect(refused).toMatchObject({ stdout: '', exitCode: 1 });
  process.kill(holder, 'SIGCONT');
  expect((await stopped).exitCode).toBe(0);
  expect(JSON.parse(workspace.read(appliedFile)).webhooks).toHaveLength(2);
});

/** The process that holds the lock, once it is stopped. */
function holderOf(workspace: Workspace): Promise<number> {
  return vi.waitFor(
    () => {
      const { pid } = JSON.parse(workspace.read(`${appliedFile}.lock-holder`));
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^State:\s+[Tt]/m);
      return pid;
    },
    { timeout: testLimitMs, interval: 10 },
  );
}
