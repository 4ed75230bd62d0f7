import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../../../support/workspace.ts';

test('lists what commands changed on the home, by whom and on which machine', async () => {
  const workspace = makeWorkspace();
  expect((await workspace.hookmill('audit')).stdout).toBe('No changes.\n');
  await workspace.hookmill('secrets', 'generate', 'A_TOKEN');
  await workspace.hookmill('secrets', 'declare', 'B');
  await workspace.hookmill('secrets', 'share', 'B', 'crm');
  await workspace.hookmill('secrets', 'remove', 'B');
  await workspace.hookmill('tokens', 'create', 'ci', '--all-factories', '--expires', '90d');
  await workspace.hookmill('tokens', 'revoke', 'ci');
  workspace.write('webhooks/hook.yaml', 'authMode: token\nsecretName: A_TOKEN\n');
  expect(await workspace.hookmill('apply')).toMatchObject({ exitCode: 0 });
  await workspace.hookmill('apply');
  const { stdout } = await workspace.hookmill('audit', '-o', 'json');
  const entries: Record<string, unknown>[] = JSON.parse(stdout);
  expect(entries.map(({ operation, factory, subject }) => [operation, factory, subject])).toEqual([
    ['apply', 'default', 'serial 1: 1 added, 0 changed, 0 destroyed'],
    ['revokeToken', null, 'ci'],
    ['createToken', null, 'ci (read)'],
    ['removeSecret', 'default', 'B'],
    ['shareSecret', null, 'crm may now use B'],
    ['declareSecret', 'default', 'B'],
    ['generateSecret', 'default', 'A_TOKEN'],
  ]);
  const who = { kind: 'user', name: userInfo().username };
  for (const entry of entries) expect(entry).toMatchObject({ who, from: hostname() });
  const shown = await workspace.hookmill('audit', '--limit', '1');
  expect(shown.stdout).toMatch(
    /^TIME +WHO +FROM +FACTORY +CHANGE +SUBJECT\n.+ default +apply +serial 1.+\n$/,
  );
});
