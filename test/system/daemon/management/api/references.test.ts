import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startManagedDaemon } from '../../../../support/management.ts';

/** A team secret whose command notes each of its starts, and prints the value once a file exists. */
async function startWithCommand() {
  const daemon = await startManagedDaemon();
  const directory = mkdtempSync(join(tmpdir(), 'references-'));
  const [starts, answer] = [join(directory, 'starts'), join(directory, 'answer')];
  const script = `echo start >> ${starts}; until cat ${answer} 2>&-; do sleep 0.02; done`;
  await daemon.store.teamSecrets.refer('KEPT', `exec:${JSON.stringify(['/bin/sh', '-c', script])}`, null);
  // The command must not find the file before the value is in it.
  const giveValue = (value: string) => {
    writeFileSync(`${answer}.new`, value);
    renameSync(`${answer}.new`, answer);
  };
  const countStarts = () => (existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').length - 1 : 0);
  const files = [{ path: 'webhooks/a.yaml', content: 'secretName: KEPT\n' }];
  return { daemon, files, giveValue, countStarts };
}

test('starts the command of a reference for those who may manage, and never for those who may read', async () => {
  const { daemon, files, giveValue, countStarts } = await startWithCommand();
  const [manager, reader] = [await daemon.client(), await daemon.client({ permission: 'read' })];
  giveValue('the first value that nobody guesses');
  expect((await reader.call('plan', { body: { files } })).json.changes).toMatchObject([{ action: 'create' }]);
  expect(countStarts()).toBe(0);
  await manager.call('apply', { body: { files, origin: '/x' } });
  expect(countStarts()).toBe(1);
  giveValue('the second value that nobody guesses');
  const planOf = async (client: typeof manager) =>
    (await client.call('plan', { body: { files } })).json.changes[0].action;
  // Who may not start it is shown the value in use.
  expect(await planOf(reader)).toBe('no-op');
  expect(countStarts()).toBe(1);
  expect(await planOf(manager)).toBe('update');
  expect(countStarts()).toBe(2);
});

test('answers others while the command of a reference runs, and the requests of one token in order', async () => {
  const { daemon, files, giveValue, countStarts } = await startWithCommand();
  const [slow, other] = [await daemon.client(), await daemon.client()];
  const ended: string[] = [];
  const planned = slow.call('plan', { body: { files } }).finally(() => ended.push('slow plan'));
  await expect.poll(countStarts).toBe(1);
  const next = slow.call('showStatus').finally(() => ended.push('next of the same token'));
  const created = await other.call('createWebhook', { body: { name: 'hook' } });
  expect(created.status).toBe(201);
  ended.push('others');
  giveValue('a value that nobody guesses');
  expect((await planned).json.diagnostics).toEqual([]);
  expect((await next).status).toBe(200);
  expect(ended).toEqual(['others', 'slow plan', 'next of the same token']);
});
