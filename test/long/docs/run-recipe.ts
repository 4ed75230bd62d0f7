import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { recordRun } from '../../system/daemon/runs/record-runs.ts';
import { type RunBench, temporaryDirectory } from '../../system/daemon/runs/run-samples.ts';

export const folder = join(import.meta.dirname, '../../../examples/runners');
const canary = 'c4n4ry';
export const payload = Buffer.from(JSON.stringify({ [canary]: `$(touch ${canary}) "; touch ${canary} #` }));

/** A program of this name on PATH. What it was given is in `calls`. */
export function standIn(name: string, source: string) {
  const directory = temporaryDirectory();
  const log = join(directory, 'calls');
  writeFileSync(
    join(directory, name),
    `#!/usr/bin/env node
    const { appendFileSync, readFileSync } = require('node:fs');
    const { parseArgs } = require('node:util');
    const args = process.argv.slice(2);
    const stdin = readFileSync(0, 'utf8');
    appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, stdin, env: process.env }) + '\\n');
    ${source}`,
    { mode: 0o755 },
  );
  const calls = (): readonly Call[] =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
  return { directory, calls };
}

export interface Call {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a queue with the recipe's settings, but as the tests' own user, and records a run with a hostile payload. */
export async function runRecipe(
  bench: RunBench,
  recipe: string,
  variables: Readonly<Record<string, string>>,
  programs: readonly { readonly directory: string }[] = [],
): Promise<string> {
  const bytes = readFileSync(join(folder, recipe));
  const { definition, diagnostics } = parseSettings(recipe, bytes);
  expect(diagnostics).toEqual([]);
  const { runner, concurrency } = definition?.runs ?? {};
  if (runner?.kind !== 'command') throw new Error('the recipe has no command');
  expect(runner.user).toBe('agent');
  for (const name of Object.keys(variables)) expect(runner.environment).toContain(name);
  const argv = runner.argv.map(word => word.replace('/etc/hookmill', folder));
  const PATH = [...programs.map(({ directory }) => directory), process.env.PATH].join(':');
  const environment = { ...process.env, ...variables, PATH };
  const { kind, timeLimitSeconds, environment: names } = runner;
  await bench.start(
    { runner: { kind, argv, environment: names, timeLimitSeconds }, concurrency, attempts: 1 },
    { environment },
  );
  return recordRun(bench.deliveryLog, { payload, prompt: 'Review the payment.' });
}

export function expectNothingOfThePayload(bench: RunBench, id: string, calls: readonly Call[]): void {
  expect(calls).not.toEqual([]);
  for (const { args, env } of calls) expect(JSON.stringify([args, env])).not.toContain(canary);
  expect(readdirSync(join(bench.home.runsDirectory, id)).join()).not.toContain(canary);
}
