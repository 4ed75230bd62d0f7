import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';
import { startDaemonForTest } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const folder = join(import.meta.dirname, '../fixtures/homes');
const versions = readdirSync(folder).filter(file => file.endsWith('.tar.gz'));

interface Row {
  readonly id?: string;
  readonly state?: string;
  readonly identity?: string;
  readonly outcome?: string;
  /** What starting a daemon may change. */
  readonly url?: string;
  readonly health?: object;
}

/** Starts a daemon on a copy of the home that a version made. Also returns what that version's own commands said of it. */
async function serveHome(file: string) {
  const workspace = makeWorkspace();
  execaSync('tar', ['-xzf', join(folder, file), '--no-same-owner', '-C', workspace.directory]);
  const answers: Record<string, readonly Row[]> = JSON.parse(workspace.read('answers.json'));
  await startDaemonForTest({ workspace, settings: JSON.parse(workspace.read('daemon.json')) });
  return { workspace, answers };
}

async function list(workspace: Workspace, words: string): Promise<readonly Row[]> {
  return JSON.parse((await workspace.hookmill(...words.split(' '), '-o', 'json')).stdout);
}

test('there is a home of an earlier version', () => {
  expect(versions).not.toEqual([]);
});

test.for(versions)('everything in the home of %s is there, and nothing is left to apply', async file => {
  const { workspace, answers } = await serveHome(file);
  for (const [words, before] of Object.entries(answers)) {
    // The daemon executes what is queued.
    const kept = before.map(({ url, health, ...row }) => (row.state === 'queued' ? { id: row.id } : row));
    expect(await list(workspace, words), words).toMatchObject(kept);
  }
  const planned = await workspace.hookmill('plan', '--detailed-exitcode');
  expect(planned.exitCode, planned.stderr).toBe(0);
  const succeeded = answers['runs list']?.find(({ state }) => state === 'succeeded')?.id ?? '';
  expect((await workspace.hookmill('runs', 'logs', succeeded)).stdout).toContain('looking into it');
});

test.for(versions)('a daemon knows the deliveries in the home of %s, and takes new ones', async file => {
  const { workspace, answers } = await serveHome(file);
  const send = async (webhook: string, id: string) =>
    (await workspace.hookmill('send', webhook, '--payload', 'payload.json', '--delivery-id', id)).stdout;
  const accepted = answers['deliveries list']?.filter(({ outcome }) => outcome === 'Accepted') ?? [];
  const webhooks = { 'deploy-1': 'deploys', 'form-1': 'forms', 'push-1': 'code' };
  for (const [identity, webhook] of Object.entries(webhooks)) {
    const first = accepted.find(delivery => delivery.identity === identity)?.id ?? 'none';
    expect(await send(webhook, identity)).toContain(`Duplicate of ${first}`);
    expect(await send(webhook, `${identity}-again`)).toMatch(/dlv_/);
  }
  expect((await list(workspace, 'deliveries list')).map(({ outcome }) => outcome).sort()).toEqual([
    ...Array(6).fill('Accepted'),
    ...Array(4).fill('Duplicate'),
  ]);
  // The one that was queued, and that of the new delivery.
  const runs = await eventually(async () => {
    const all = await list(workspace, 'runs list');
    return all.length === 3 && all.every(({ state }) => state === 'succeeded') && all;
  });
  const before = answers['runs list'] ?? [];
  expect(runs.map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
});
