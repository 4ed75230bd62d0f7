import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';

export const root = join(import.meta.dirname, '../../..');
export const actionFile = join(root, 'deploy/ci/github/action.yml');

interface Step {
  readonly name: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

const action: Action = parse(readFileSync(actionFile, 'utf8'));

/** Finds a step of the action by its name. */
export function readStep(name: string): Step {
  const step = action.runs.steps.find(step => step.name === name);
  if (!step) throw new Error(`the action has no step ${name}`);
  return step;
}

/** Runs a step of the action as a runner does: `shell: bash`, its `env` filled in from the inputs. */
export async function runStep(
  name: string,
  cwd: string,
  inputs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
) {
  const step = readStep(name);
  if (!step.run) throw new Error(`the step ${name} runs nothing`);
  const values = Object.entries(step.env ?? {}).map(([variable, expression]) => {
    const [, input = ''] = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(expression) ?? [];
    return [variable, inputs[input] ?? action.inputs[input]?.default ?? ''];
  });
  return execa('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd,
    reject: false,
    extendEnv: false,
    env: { ...env, ...Object.fromEntries(values) },
  });
}

/** The environment of a job: npm cannot reach a registry, and no variable comes from the tests. Jobs share compiled code. */
export function jobEnvironment(home: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: tmpdir(),
    NODE_COMPILE_CACHE: join(tmpdir(), 'compiled-by-jobs'),
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_update_notifier: 'false',
  };
}
