// `npm run mutants`: plants the faults of mutants.ts one at a time in a copy of this tree, and expects that the test which
// each names fails.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { pristineVariable, sharedVariable } from '../../support/postgres.ts';
import { parseNamedTest } from './mutant.ts';
import { mutants } from './mutants.ts';

/** Time after which a test counts as not ended, in ms: its fault may make it run for ever. */
const runMs = 1_500_000;

const root = join(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'mutants-'));

beforeAll(() => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.slice(0, -1))
    cpSync(join(root, file), join(copy, file), { recursive: true, verbatimSymlinks: true });
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
  // Hard links, because the build knows packages by their real paths.
  execFileSync('cp', ['-al', join(root, 'node_modules'), copy]);
  rmSync(join(copy, 'node_modules/.vite'), { recursive: true, force: true });
});

const killers = [...new Set(mutants.map(({ killedBy }) => killedBy))];
const isLong = (named: string) => named.startsWith('test/long/');

test('every named test passes before anything is planted', { timeout: 5 * runMs }, async () => {
  for (const named of [killers.filter(isLong), killers.filter(name => !isLong(name))]) {
    const { statuses, output } = await runTests(named, 2 * runMs);
    const ofEach = named.map(name => [name, ...new Set(statuses.get(name))]);
    expect(ofEach, output).toEqual(named.map(name => [name, 'passed']));
  }
});

const cases = mutants.map(mutant => [`${mutant.file}: ${mutant.promise}`, mutant] as const);

test.for(cases)('%s', async ([, { killedBy, file, text, replacement }]) => {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(text, () => replacement),
  );
  try {
    const { statuses, output } = await runTests([killedBy], runMs);
    expect(statuses.get(killedBy), `${killedBy}\n${output}`).toContain('failed');
  } finally {
    writeFileSync(path, source);
  }
});

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Runs tests in the copy. Returns how the cases of each ended; none if its file could not be run. */
async function runTests(named: readonly string[], timeout: number) {
  const tests = named.map(name => ({ name, ...parseNamedTest(name) }));
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const { FORCE_COLOR: _, [sharedVariable]: __, [pristineVariable]: ___, ...environment } = process.env;
  const { exitCode, all } = await execa(
    process.execPath,
    [
      ...['node_modules/vitest/vitest.mjs', 'run', ...new Set(tests.map(({ file }) => file))],
      ...(named.every(isLong) ? ['--config', 'vitest.long.config.ts'] : []),
      ...['-t', tests.map(({ title }) => toPattern(title)).join('|'), '--maxWorkers=1'],
      ...['--reporter=json', `--outputFile=${report}`],
    ],
    {
      ...{ cwd: copy, timeout, killDescendants: true, reject: false, all: true, extendEnv: false },
      // The directory around that of this run: the path of a socket has at most 107 bytes.
      env: { ...environment, NO_COLOR: '1', TMPDIR: dirname(tmpdir()) },
    },
  );
  const { testResults }: TestReport = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { testResults: [] };
  const statusesOf = ({ file, title }: (typeof tests)[number]) =>
    testResults
      .filter(({ name }) => name === join(copy, file))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(one => new RegExp(`^${toPattern(title)}$`).test(one.title))
      .map(one => one.status);
  const statuses = new Map(tests.map(one => [one.name, statusesOf(one)]));
  return { statuses, output: `vitest ended with ${exitCode}\n${all}`.slice(-5_000) };
}

/** Makes a pattern of the titles of a test, which may have cases. */
function toPattern(title: string): string {
  return title
    .replaceAll(/[.*+?^()[\]|\\/]/g, '\\$&')
    .replaceAll(/%[sdjo]|\$\{.*?\}|\$[\w.]+/g, '.*')
    .replaceAll(/[{}]/g, '\\$&');
}
