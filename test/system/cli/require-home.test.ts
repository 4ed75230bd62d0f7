import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../../support/workspace.ts';

test.for([
  [['secrets', 'remove', 'X'], /is not a home/],
  [['secrets', 'share', 'X', '--all-factories'], /is not a home/],
  [['secrets', 'set', 'X'], /cannot be empty/],
  [['secrets', 'set', 'X', '--from', 'vault'], /is not a reference/],
  [['tokens', 'revoke', 'x'], /is not a home/],
  [['runs', 'retry', 'run_x'], /is not a home/],
  [['runs', 'dismiss', 'run_x'], /is not a home/],
  [['runs', 'cancel', 'run_x'], /is not a home/],
  [['automations', 'pause', 'x'], /is not a home/],
  [['automations', 'resume', 'x'], /is not a home/],
  [['deliveries', 'replay', 'dlv_x'], /is not a home/],
  [['deliveries', 'check'], /is not a home/],
  [['store', 'check'], /is not a home/],
] as const)('where there is no home, `hookmill %s` is refused and makes none', async ([args, message]) => {
  const workspace = makeWorkspace();
  const { exitCode, stderr } = await workspace.hookmill(...args, { stdin: '' });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(message);
  expect(existsSync(workspace.home)).toBe(false);
});
