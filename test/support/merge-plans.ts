import { execFileSync } from 'node:child_process';
import { findBase, readMergedDefinitions } from '../../cli/backend/merged-definitions.ts';
import { readRememberedRepository } from '../../operations/branch/remembered-repository.ts';
import type { OpenFactory } from '../../operations/factory.ts';
import { planFactory } from '../../operations/plan/plan-factory.ts';
import { planView } from '../../operations/views/plan-view.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { operatorEnvironment } from './git-samples.ts';

/** Runs git in a directory, as somebody with a name. */
export function gitIn(directory: string) {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return (...args: string[]): string =>
    execFileSync('git', [...identity, ...args], {
      cwd: directory,
      env: operatorEnvironment,
      encoding: 'utf8',
      stdio: 'pipe',
    });
}

/** Plans a directory as `hookmill plan` does, in this process. */
export async function planMerge(factory: OpenFactory, directory: string, environment = operatorEnvironment) {
  const { source } = await factory.readState();
  const base = findBase(await readRememberedRepository(factory), source);
  const { found, explain } = await readMergedDefinitions(directory, base, environment);
  const { ok, state, changes, diagnostics } = await planFactory(factory, parseDefinitions(found));
  return explain({ ok, plan: planView(state, changes, 'http://127.0.0.1'), diagnostics });
}

/** The names that changes have with an action, by kind. */
export function namesOf(
  changes: readonly { readonly action: string; readonly kind: string; readonly name: string }[],
  action: 'create' | 'update' | 'delete',
): string[] {
  return changes.filter(change => change.action === action).map(({ kind, name }) => `${kind} ${name}`);
}
