import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createCommandRunner } from '../../../../../daemon/runs/runners/command.ts';
import { readStore } from '../../../../support/stored.ts';
import { recordBurst, recordRun } from '../record-runs.ts';
import {
  isAlive,
  nodeCommand,
  openRunBench,
  outputOf,
  type RunBench,
  runSettings,
  runThatIs,
  temporaryDirectory,
  textOf,
} from '../run-samples.ts';

const hostile = '$(touch pwned) `id` "; rm -rf / #\u2028HOSTILE';

/** Starts a queue with the command, records one run; gives its id and where its files are. */
async function runCommand(bench: RunBench, runner: Record<string, unknown>, attempts = 1) {
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  const environment = { ...process.env, WANTED: 'wanted', UNWANTED: 'unwanted', HOOKMILL_KEY: 'the key' };
  const queue = await bench.start({ runner, attempts, backOff }, { environment });
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(JSON.stringify({ hostile })) });
  const directory = join(bench.home.runsDirectory, id);
  return { id, queue, directory, file: (name: string) => join(directory, name) };
}

const untilGone = (pid: string) => expect.poll(() => isAlive(pid)).toBe(false);

test('gives the command the message on stdin, the payload as a file, and little else', async () => {
  const bench = await openRunBench();
  const source = `import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
    const stdin = readFileSync(0, 'utf8');
    const payload = readFileSync(process.env.HOOKMILL_PAYLOAD_FILE, 'utf8');
    const { argv, env } = process;
    writeFileSync('seen.json', JSON.stringify({ argv: argv.slice(2), env, cwd: process.cwd(), stdin, payload }));`;
  const command = nodeCommand(source, { environment: ['WANTED', 'NOT_SET'] });
  const argv = [...(command.argv as string[]), '$HOME', 'a b'];
  const { id, directory, file } = await runCommand(bench, { ...command, argv });
  const run = await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });

  const seen = JSON.parse(readFileSync(file('seen.json'), 'utf8'));
  expect(seen.argv).toEqual(['$HOME', 'a b']);
  expect(seen.cwd).toBe(directory);
  expect(seen.stdin).toBe(readFileSync(file('prompt.md'), 'utf8'));
  expect(JSON.parse(seen.payload)).toEqual({ hostile });
  const { PATH, HOME, LANG, TZ, TMPDIR, ...rest } = seen.env;
  expect(PATH).toBe(process.env.PATH);
  expect(HOME).toBe(file('home'));
  expect([LANG, TZ, TMPDIR]).toEqual(['LANG', 'TZ', 'TMPDIR'].map(name => process.env[name]));
  expect(rest).toEqual({
    WANTED: 'wanted',
    HOOKMILL_RUN_ID: id,
    HOOKMILL_DELIVERY_ID: run.deliveryId,
    HOOKMILL_WEBHOOK: 'pay',
    HOOKMILL_AUTOMATION: 'triage',
    HOOKMILL_FACTORY: 'default',
    HOOKMILL_ATTEMPT: '1',
    HOOKMILL_FENCING_TOKEN: '1',
    HOOKMILL_RUNNER: 'default',
    HOOKMILL_PAYLOAD_FILE: file('event-payload.json'),
    HOOKMILL_HEADERS_FILE: file('event-headers.json'),
  });
  expect(seen.stdin + JSON.stringify([seen.argv, seen.env])).not.toContain('HOSTILE');
});

test('gives the command the payloads and headers of a burst in directories, whatever it did to them before', async () => {
  const bench = await openRunBench();
  const payloads = ['{"n": 1}', ' {"n":2}\r\n', '{"n":3}'].map(text => Buffer.from(text));
  const id = await recordBurst(bench.deliveryLog, payloads);
  const source = `import { readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
    const { HOOKMILL_PAYLOADS_DIR: payloads, HOOKMILL_HEADERS_DIR: headers } = process.env;
    for (const directory of [payloads, headers]) for (const name of readdirSync(directory).sort())
      process.stdout.write(name + '=' + JSON.stringify(readFileSync(directory + '/' + name, 'utf8')) + ';');
    if (process.env.HOOKMILL_ATTEMPT === '2') process.exit();
    renameSync(payloads, 'taken');
    symlinkSync('/', payloads);
    process.exitCode = 1;`;
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  await bench.start({ runner: nodeCommand(source), backOff });
  await runThatIs(bench, id, { state: 'succeeded', attempts: 2, deliveryCount: 3 });
  const texts = [...payloads.map(String), ...payloads.map(() => '{}\n')].map(text => JSON.stringify(text));
  const seen = texts.map((text, index) => `000${(index % 3) + 1}.json=${text};`).join('');
  expect((await outputOf(bench, id)).split('\n').filter(line => line.startsWith('0001'))).toEqual([
    seen,
    seen,
  ]);
  const message = readFileSync(join(bench.home.runsDirectory, id, 'prompt.md'), 'utf8');
  expect(message).toContain('the newest of 3 deliveries');
  const newest = readFileSync(join(bench.home.runsDirectory, id, 'event-payload.json'));
  expect(newest).toEqual(payloads[2]);
});

// What it leaves is shown by the next attempt. Directories as some tools protect them, so deep that no path reaches the end.
const leaving = `ls -A . "$HOME"
  mkdir -p .claude artifacts && echo '{}' > .claude/settings.json && echo kept > artifacts/kept
  echo '{}' > "$HOME/.gitconfig"
  mkdir -p protected/d && touch protected/d/file && chmod -R a-w protected
  deep=$(printf %0200d 0 | sed 's/0/dddddddddddddd\\//g'); mkdir -p $deep && (cd -P $deep && mkdir -p $deep)
  mkfifo pipe; ln -s / root; chmod 000 .claude
  exit 1`;

test('begins each attempt in an empty directory, with an empty home of its own', async () => {
  const bench = await openRunBench();
  const { id, file } = await runCommand(bench, { kind: 'command', argv: ['sh', '-c', leaving] }, 3);
  await runThatIs(bench, id, { state: 'failed', attempts: 3 });
  const given = 'event-headers.json\nevent-payload.json\nhome\nprompt.md\n';
  const found = `.:\n${given}\n${file('home')}:\n\n[`;
  expect((await outputOf(bench, id)).split(found)).toHaveLength(4);
  // What the last attempt left stays for a look, with its artifacts.
  expect(existsSync(file('pipe'))).toBe(true);
  expect((await bench.store.runFiles.listArtifacts(id)).map(({ name }) => name)).toEqual(['kept']);
  await bench.store.runFiles.remove(id);
  expect(readdirSync(bench.home.runsDirectory)).toEqual([]);
});

test('keeps what an attempt left for the next one, and the home of the user, if the settings say so', async () => {
  const bench = await openRunBench();
  const script = 'echo "HOME=$HOME"; cat left; echo here > left; exit 1';
  const { id, file } = await runCommand(
    bench,
    { kind: 'command', argv: ['sh', '-c', script], keep: true },
    2,
  );
  await runThatIs(bench, id, { state: 'failed', attempts: 2 });
  expect(await outputOf(bench, id)).toContain(`\nHOME=${process.env.HOME}\nhere\n`);
  expect(existsSync(file('home'))).toBe(false);
});

test('stores the output of the command, and retries when it fails', async () => {
  const bench = await openRunBench();
  const source = `console.log('to stdout'); console.error('to stderr'); process.exitCode = 7;`;
  const { id } = await runCommand(bench, nodeCommand(source), 2);
  await runThatIs(bench, id, { state: 'failed', attempts: 2, error: 'the command exited with status 7' });
  const log = await outputOf(bench, id);
  expect(log.match(/\[hookmill: attempt \d at /g)).toEqual([
    '[hookmill: attempt 1 at ',
    '[hookmill: attempt 2 at ',
  ]);
  expect(log.match(/to std(out|err)/g)?.sort()).toEqual(['to stderr', 'to stderr', 'to stdout', 'to stdout']);
  expect(log.endsWith('\n[hookmill: the command exited with status 7]\n')).toBe(true);
});

test('reads all output of a command that writes too much, stores the first part and says so', async () => {
  const bench = await openRunBench();
  const bytes = 64 * 1024 * 1024;
  const source = `import { writeSync } from 'node:fs';
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < ${bytes} / chunk.length; i++) for (let at = 0; at < chunk.length;) {
      try { at += writeSync(1 + i % 2, chunk, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
    }`;
  const { id } = await runCommand(bench, nodeCommand(source, { outputBytes: 1000 }));
  await runThatIs(bench, id, { state: 'succeeded' });
  const log = await outputOf(bench, id);
  expect(log).toContain(`\n${'x'.repeat(1000)}\n[hookmill: output truncated: ${bytes - 1000} more bytes`);
  expect(log.length).toBeLessThan(1300);
});

test('needs little memory for commands that write much, side by side', async () => {
  const bench = await openRunBench();
  const runner = { kind: 'command', argv: ['head', '-c', String(100 * 1024 * 1024), '/dev/zero'] };
  await bench.start({ runner });
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const ids = [await recordRun(bench.deliveryLog), await recordRun(bench.deliveryLog)];
  const find = async () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    return Promise.all(ids.map(async id => (await bench.store.deliveries.findRun(id))?.state));
  };
  await expect.poll(find, { interval: 1 }).toEqual(['succeeded', 'succeeded']);
  expect(most).toBeLessThan(8 * 1024 * 1024);
});

test('reads the output of a command no faster than it is stored', async () => {
  const { store, deliveryLog } = await openRunBench();
  // Once it has ended, Node reads what is left in its pipes.
  const script = 'head -c 8388608 /dev/zero; until [ -e stored ]; do sleep 0.05; done';
  const settings = runSettings({ runner: { kind: 'command', argv: ['sh', '-c', script] } }).runner;
  if (settings.kind !== 'command') throw new Error('another runner');
  let [pending, most, bytes] = [0, 0, 0];
  const appendOutput: typeof store.runFiles.appendOutput = (...args) => {
    const output = store.runFiles.appendOutput(...args);
    const write = async (chunk: Uint8Array) => {
      bytes += chunk.length;
      most = Math.max(most, ++pending);
      await output.write(chunk);
      await setImmediate();
      pending--;
      if (bytes === 8_388_608) writeFileSync(join(attempt.directory, 'stored'), '');
    };
    return { ...output, write };
  };
  const runFiles = { ...store.runFiles, appendOutput, keepArtifacts: async () => true };
  const deps = { user: undefined, prepare: undefined, environment: process.env, nowMs: Date.now };
  const runner = createCommandRunner(settings, { ...deps, runFiles, store, deliveryLog });
  const run = await store.deliveries.findRun(await recordRun(deliveryLog));
  if (!run) throw new Error('the run is gone');
  const event = { payload: Buffer.from('{}'), headers: {} };
  const attempt = { run, directory: temporaryDirectory(), gathered: 0, message: 'Act.', ...event };
  await store.runFiles.prepare(run.id, 'Act.', event);
  expect(await runner(attempt, new AbortController().signal)).toEqual({ kind: 'succeeded' });
  expect({ most, bytes }).toEqual({ most: 1, bytes: 8_388_608 });
});

test('shows no team secret that a command writes to two streams at once, names artifacts by, or links to', async () => {
  const bench = await openRunBench();
  const secret = 's3cr3t-of-the-command';
  await bench.store.teamSecrets.set('KEY', secret);
  const source = `import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
    const key = process.env.KEY;
    const wait = () => new Promise(resolve => setTimeout(resolve, 20));
    writeSync(1, key.slice(0, 9)); await wait();
    writeSync(2, 'other'); await wait();
    writeSync(1, key.slice(9));
    mkdirSync('artifacts');
    writeFileSync('artifacts/' + key + '.txt', '');
    writeFileSync('artifacts/result.json', JSON.stringify({
      message: 'used ' + Buffer.from(key).toString('base64'), link: 'https://x.example/?key=' + key,
    }));`;
  const { id } = await runCommand(bench, nodeCommand(source, { secretEnvironment: { KEY: 'KEY' } }));
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(run.report).toEqual({ atMs: expect.any(Number), count: 1, message: 'used [secret]' });
  expect(run.error).toMatch(/^not all artifacts were kept: .* without a secret in the name/);
  const output = await outputOf(bench, id);
  expect(output).toContain('[secret]');
  expect(output).not.toMatch(/s3cr3t|of-the-command/);
  expect((await bench.store.runFiles.listArtifacts(id)).map(({ name }) => name)).toEqual(['result.json']);
});

test('a run that is cancelled while its team secret opens does not start, though its daemon was not told yet', async () => {
  const bench = await openRunBench();
  const { teamSecrets } = bench.store;
  await teamSecrets.set('SLOW', 'value');
  const { open } = teamSecrets;
  const id = await recordRun(bench.deliveryLog);
  Object.assign(teamSecrets, {
    open: async (...given: Parameters<typeof open>) => {
      // As a command does, in a process of its own.
      const cancel = { by: 'ada', atMs: Date.now() };
      await readStore(bench.home, async store => {
        const log = await store.openDeliveryLog();
        await log.cancelRun({ id, cancel }).finally(() => log.close());
      });
      return open(...given);
    },
  });
  const started = join(temporaryDirectory(), 'started');
  const runner = { kind: 'command', argv: ['touch', started], secretEnvironment: { SLOW: 'SLOW' } };
  await bench.start({ runner });
  await runThatIs(bench, id, { state: 'cancelled' });
  expect(existsSync(started)).toBe(false);
});

test('ends a command that takes too long, with every process of its group, whatever they ignore', async () => {
  const bench = await openRunBench();
  // A shell is there in milliseconds, long before its time is over.
  const script = `trap 'echo ignored' TERM
    (trap '' TERM; while :; do sleep 600; done) &
    echo $$ $! > pids
    while :; do sleep 600; done`;
  const command = { kind: 'command', argv: ['sh', '-c', script], timeLimitSeconds: 1.5 };
  const { id, file } = await runCommand(bench, command);
  await runThatIs(bench, id, { state: 'failed', error: 'the command timed out after 1.5 s' });
  const shorter = await recordRun(bench.deliveryLog, { control: { timeLimit: '1s' } });
  await runThatIs(bench, shorter, { state: 'failed', error: 'the command timed out after 1 s' });
  expect(await outputOf(bench, id)).toContain('ignored');
  for (const pid of readFileSync(file('pids'), 'utf8').trim().split(' ')) await untilGone(pid);
});

test('is done when the command is, and ends the children that it left behind', async () => {
  const bench = await openRunBench();
  const source = `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const ignoring = "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ['-e', ignoring], { stdio: 'inherit' });
    writeFileSync('pid', String(child.pid));
    process.exit(0);`;
  const { id, file } = await runCommand(bench, nodeCommand(source));
  await runThatIs(bench, id, { state: 'succeeded' });
  await untilGone(readFileSync(file('pid'), 'utf8'));
});

test('does not wait for a process that left the group and holds on to the output', async () => {
  const bench = await openRunBench();
  const source = `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const options = { stdio: 'inherit', detached: true };
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], options);
    writeFileSync('pid', String(child.pid));
    console.log('done');
    process.exit(0);`;
  const { id, file } = await runCommand(bench, nodeCommand(source));
  const pid = Number(await textOf(file('pid')));
  onTestFinished(() => {
    process.kill(pid, 'SIGKILL');
  });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).toContain('done');
});

test('does not mind a command that never reads its stdin', async () => {
  const bench = await openRunBench();
  const runner = nodeCommand(`import { closeSync } from 'node:fs'; closeSync(0);`);
  await bench.start({ runner });
  // More than a pipe holds.
  const id = await recordRun(bench.deliveryLog, { prompt: 'p'.repeat(1024 * 1024) });
  await runThatIs(bench, id, { state: 'succeeded' });
});

test('says that a command could not be started, or which signal ended it', async () => {
  const bench = await openRunBench();
  const missing = await runCommand(bench, { kind: 'command', argv: ['/nowhere/no-such-program'] });
  const error = 'the command could not be started: there is no file /nowhere/no-such-program';
  await runThatIs(bench, missing.id, { state: 'failed', error });
  await missing.queue.stop();
  const killed = await runCommand(bench, nodeCommand(`process.kill(process.pid, 'SIGKILL')`));
  await runThatIs(bench, killed.id, { state: 'failed', error: 'the command was killed by SIGKILL' });
});

test('gives a command that a stopping daemon ended back to the queue, however it exits', async () => {
  const bench = await openRunBench();
  const source = `import { writeFileSync } from 'node:fs';
    process.on('SIGTERM', () => process.exit(0));
    writeFileSync('pid', String(process.pid));
    setInterval(() => {}, 1000);`;
  const { id, queue, file } = await runCommand(bench, nodeCommand(source));
  const pid = await textOf(file('pid'));
  await queue.stop();
  expect(await bench.store.deliveries.findRun(id)).toMatchObject({ state: 'queued', attempts: 1 });
  expect(isAlive(pid)).toBe(false);
});

test('leaves the signals of the daemon to the daemon', async () => {
  const before = process.listenerCount('SIGTERM');
  const bench = await openRunBench();
  const { id, file, queue } = await runCommand(
    bench,
    nodeCommand(
      `import { writeFileSync } from 'node:fs'; writeFileSync('pid', '1'); setInterval(() => {}, 1000)`,
    ),
  );
  await textOf(file('pid'));
  expect(process.listenerCount('SIGTERM')).toBe(before);
  await queue.stop();
  await runThatIs(bench, id, { state: 'queued' });
});
