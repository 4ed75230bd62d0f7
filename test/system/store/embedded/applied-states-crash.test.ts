import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { type AppliedState, appliedStateShape } from '../../../../schema/applied-state.ts';
import type { WebhookWithUid } from '../../../../schema/definitions/webhook-names.ts';
import { openFileAuditLog } from '../../../../store/embedded/files/file-audit-log.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { applyDirectory, makeFactory } from '../../../support/factory.ts';
import { hasStrace, signalAt } from '../../../support/strace.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const atOnce = 3;

// Each call by which apply changes what is on disk or makes it durable. A new file is first written to after open. Most of
// the many writes do not go to a file. The only rename is what makes the new state.
const calls = [
  ['write', ['old', 'new']],
  ['pwrite64', ['old', 'new']],
  ['mkdir', ['old', 'new']],
  ['fsync', ['old', 'new']],
  ['rename', ['old']],
] as const;

// A short run has the syncs, on both sides of the new state, and the rename that makes it.
test.for(inject('isLong') ? calls : calls.slice(-2))(
  'apply killed at any %s leaves the old state or the new one, and the next works at once',
  async ([call, outcomes], { skip }) => {
    skip(!hasStrace, 'needs strace');
    const workspace = await oneToDestroyOneToRestore();
    const seen: string[] = [];
    for (let n = 1; !seen.includes('finished'); n += atOnce) {
      const runs = Array.from({ length: atOnce }, (_, i) => applyKilledAt(workspace, call, n + i));
      seen.push(...(await Promise.all(runs)));
    }
    expect(new Set(seen)).toEqual(new Set([...outcomes, 'finished']));
  },
);

/** The webhook a is applied and b was destroyed; an apply destroys a and restores b. */
async function oneToDestroyOneToRestore(): Promise<Workspace> {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'a-secret-of-some-length' });
  for (const names of [['a', 'b'], ['a'], ['b']]) {
    rmSync(workspace.path('webhooks'), { recursive: true, force: true });
    for (const name of names) workspace.write(`webhooks/${name}.yaml`, 'secretName: TOKEN\n');
    if (names[0] === 'a') await workspace.hookmill('apply', '--yes');
  }
  return workspace;
}

/** Applies in a copy of the home, killed at the nth such call of a thread, and checks what it leaves. */
async function applyKilledAt(
  workspace: Workspace,
  call: string,
  n: number,
): Promise<'old' | 'new' | 'finished'> {
  const home = homeAt(workspace.path(`home-${n}`));
  cpSync(workspace.home, home.directory, { recursive: true });
  const before = stateOf(home.directory);
  // One thread for all file operations, so that their order is their number.
  const env = { UV_THREADPOOL_SIZE: '1' };
  const { exitCode } = await workspace.hookmill('apply', '--yes', '--home', home.directory, {
    through: signalAt(call, 'SIGKILL', n),
    env,
  });

  const found = stateOf(home.directory);
  const entries = await openFileAuditLog(home).list({ limit: 9 });
  const applies = entries.filter(({ operation }) => operation === 'apply');
  const isOld = found.serial === before.serial;
  if (!isOld) expect(applies).toHaveLength(3);
  if (isOld) expect(found).toEqual(before);
  const expected = { webhooks: listUids(before.destroyed), destroyed: listUids(before.webhooks) };
  if (!isOld) expect(toUids(found)).toEqual(expected);
  await expectNextApply(home.directory, isOld, workspace);
  expect(toUids(stateOf(home.directory))).toEqual(expected);
  if (exitCode === 0) return 'finished';
  expect(exitCode, 'killed by the signal').toBeUndefined();
  return isOld ? 'old' : 'new';
}

/** It gets the lock without waiting, and sweeps what the killed one left. */
async function expectNextApply(directory: string, isOld: boolean, workspace: Workspace): Promise<void> {
  const next = await applyDirectory(makeFactory(homeAt(directory)), workspace.directory);
  expect(next.result).toBe(isOld ? 'applied' : 'unchanged');
  const left = readdirSync(join(directory, 'applied')).filter(name => name.endsWith('.tmp'));
  expect(left).toEqual([]);
}

function toUids({ webhooks, destroyed }: AppliedState) {
  return { webhooks: listUids(webhooks), destroyed: listUids(destroyed) };
}

function listUids(webhooks: readonly WebhookWithUid[] = []): string[] {
  return webhooks.map(({ name, uid }) => `${name} ${uid}`);
}

function stateOf(home: string): AppliedState {
  const text = readFileSync(join(home, 'applied/default.json'), 'utf8');
  const { digest: _, ...state } = JSON.parse(text);
  return appliedStateShape.parse(state);
}
