import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { fakeGit, temporaryDirectory } from '../../../support/git-samples.ts';

const script = join(import.meta.dirname, '../../../../sources/repository/git/git-session.sh');

/** Starts the script as simple-git does, with its own standard input. */
function start(environment: NodeJS.ProcessEnv, ...args: string[]) {
  return spawn('/bin/sh', [script, ...args], { env: environment });
}

async function read(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const running = start(environment, ...args);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(running.stdout),
    text(running.stderr),
    once(running, 'close'),
  ]);
  return { stdout, stderr, exitCode };
}

/** PATH with these programs and no other. */
function pathWith(...programs: string[]): string {
  const directory = temporaryDirectory();
  for (const program of programs) {
    const directories = (process.env.PATH ?? '').split(delimiter);
    const found = directories.map(path => join(path, program)).find(path => existsSync(path));
    symlinkSync(found ?? program, join(directory, program));
  }
  return directory;
}

test('gives git its arguments as they are, and returns its output and exit status', async () => {
  const { PATH } = fakeGit('printf "<%s>" "$@"; echo wrong >&2; exit 3');
  const args = ['-c', 'a=b c', '--in-session', '', '*', 'two\nlines'];
  expect(await read({ PATH }, ...args)).toEqual({
    stdout: args.map(word => `<${word}>`).join(''),
    stderr: 'wrong\n',
    exitCode: 3,
  });
});

test('puts the words of HOOKMILL_GIT_PREFIX before git, one from each line, and keeps the variable from git', async () => {
  const { PATH } = fakeGit('echo "<$A>"; printenv HOOKMILL_GIT_PREFIX');
  const { stdout } = await read({ PATH, HOOKMILL_GIT_PREFIX: 'env\nA=* "b c"' }, 'fetch');
  expect(stdout).toBe('<* "b c">\n');
});

test('says so when there is no git', async () => {
  const { stderr, exitCode } = await read({ PATH: pathWith('setsid') }, 'fetch');
  expect([stderr, exitCode]).toEqual(['git cannot be run: not found\n', 127]);
});

test.each([
  ['setsid', pathWith.bind(undefined, 'nice', 'ps', 'setsid')],
  ['perl', pathWith.bind(undefined, 'nice', 'ps', 'perl')],
])('gives git a session without a terminal, by %s', async (_, makePath) => {
  const { directory } = fakeGit('ps -o sid=,tty=,ni= -p $$');
  const running = start({ PATH: `${directory}${delimiter}${makePath()}` }, 'fetch');
  const [session, terminal, nice] = (await text(running.stdout)).trim().split(/\s+/);
  expect([Number(session), terminal, nice]).toEqual([running.pid, '?', '10']);
});

describe('ends git and its helpers', () => {
  const started: ChildProcess[] = [];
  afterEach(() => started.splice(0).map(child => child.kill('SIGKILL')));

  /** Starts a git whose helper ignores signals. Resolves when both run. */
  async function startHelper(rest: string) {
    const file = join(temporaryDirectory(), 'pids');
    const { PATH } = fakeGit(`trap '' INT TERM HUP; sleep 300 & echo $! > ${file}; echo started; ${rest}`);
    const running = start({ PATH }, 'fetch');
    started.push(running);
    await once(running.stdout, 'data');
    return { running, helper: Number(readFileSync(file, 'utf8')) };
  }

  const ways: Readonly<Record<string, (running: ReturnType<typeof start>) => unknown>> = {
    'at SIGINT': running => running.kill('SIGINT'),
    'when hookmill is gone': running => running.stdin.end(),
  };

  test.each(Object.entries(ways))('%s', async (_, end) => {
    const { running, helper } = await startHelper('wait');
    end(running);
    expect(await once(running, 'close')).toEqual([null, 'SIGKILL']);
    await expect.poll(() => isRunning(helper)).toBe(false);
  });

  test.each(['exit 0', 'exit 1', 'kill -9 $$'])('when git ends by itself: %s', async rest => {
    const { running, helper } = await startHelper(rest);
    await once(running, 'close');
    await expect.poll(() => isRunning(helper)).toBe(false);
  });
});

/** A process that has ended may not have been collected yet. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
