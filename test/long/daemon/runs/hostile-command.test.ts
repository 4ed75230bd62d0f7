import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { recordRun } from '../../../system/daemon/runs/record-runs.ts';
import { enterable, openRunBench, outputOf, runThatIs } from '../../../system/daemon/runs/run-samples.ts';
import { serve } from '../../../system/daemon/runs/serve-command.ts';

/** A user of every Linux system, to whom nothing belongs. */
const user = 'nobody';

/** The processes that have this word among their arguments. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

const asRoot = test.runIf(canBecomeOthers);

asRoot(
  'a hostile command that runs as another user finds nothing of the home, the daemon and other runs',
  async () => {
    const directory = enterable();
    const [key, wanted] = [Buffer.alloc(32, 7).toString('base64'), 'only-for-the-daemon'];
    const script = `[ "$HOOKMILL_AUTOMATION" = other ] && exit 0
    until [ -s where ]; do sleep 0.05; done
    home=$(cat where)
    cat /proc/[0-9]*/environ > environ 2> errors
    { ls "$home"; cat "$home/key" "$home/secrets.json" "$home/deliveries.db" "$home"/run-outputs/*
      ls ${directory}; cat ${directory}/*/prompt.md; cat "$(cat other)/event-payload.json"
      touch "$home/new" ${directory}/new; } > found 2>> errors
    { id -u; id -G; grep -E 'CapPrm|NoNewPrivs' /proc/self/status; ls -l /proc/self/fd; env; } > own`;
    const served = await serve(['look', 'other'], 'sh', script, {
      ...{ user, directory, env: { HOOKMILL_KEY: key, WANTED: wanted } },
    });
    const { workspace, post, runsOf } = served;
    chmodSync(workspace.directory, 0o755);
    const id = await post('{}');
    const stateOf = async (name: string) =>
      (await runsOf(id)).find(({ automation }) => automation === name)?.state;
    await expect.poll(() => stateOf('other')).toBe('succeeded');
    const ids = new Map((await runsOf(id)).map(run => [run.automation, run.id]));
    const [own, other] = ['look', 'other'].map(name => join(directory, ids.get(name) ?? ''));
    const file = (name: string) => join(own ?? '', name);
    await expect.poll(() => existsSync(file('prompt.md'))).toBe(true);
    await writeFile(file('other'), other ?? '', { mode: 0o644 });
    await writeFile(file('where'), workspace.home, { mode: 0o644 });
    await expect.poll(() => stateOf('look')).toBe('succeeded');

    expect(readFileSync(file('found'), 'utf8')).toBe('');
    expect(readFileSync(file('errors'), 'utf8')).toContain('Permission denied');
    const environ = readFileSync(file('environ'), 'utf8');
    expect(environ).toContain(`HOOKMILL_RUN_ID=${ids.get('look')}`);
    for (const text of [key, wanted, ids.get('other')]) expect(environ).not.toContain(text);
    expect(readFileSync(file('own'), 'utf8')).toMatch(/^65534\n65534\nCapPrm:\t0+\nNoNewPrivs:\t1\n/);
    // Its standard input and error, and none of the daemon's.
    expect(readFileSync(file('own'), 'utf8').match(/socket:/g)).toHaveLength(2);
    expect(readFileSync(file('own'), 'utf8')).not.toContain(workspace.home);
    expect(statSync(own ?? '')).toMatchObject({ uid: 0, mode: 0o40700 });
  },
);

asRoot('hostile commands that run as another user stop nothing, and leave nothing behind', async () => {
  const directory = enterable();
  const leftover = `600.${process.pid}`;
  // The second attempt at `trap` meets what the first one left. The fork bomb comes later: it takes all processes of the user.
  const script = `case $HOOKMILL_AUTOMATION.$(cat event-payload.json) in
    deep.1) d=$(printf %0200d 0 | sed 's/0/ddddddddddddddd\\//g'); for i in 1 2 3; do mkdir -p $d && cd -P $d; done ;;
    leave.1) setsid sleep ${leftover} < /dev/null > /dev/null 2>&1 & echo left ;;
    trap.1)
      [ "$HOOKMILL_ATTEMPT" = 2 ] && { cat prompt.md event-payload.json > second; ls -A . "$HOME" > found; exit 0; }
      mkdir .claude; echo '{}' > .claude/settings.json; cp -r .claude "$HOME"
      chmod 000 .claude "$HOME"
      ln -s /etc/passwd output.log; ln -s /etc artifacts; mkfifo pipe
      rm -f event-headers.json event-payload.json prompt.md
      mkfifo prompt.md; ln -s /etc/passwd event-headers.json; mkdir -p event-payload.json/d
      chmod 000 . event-payload.json
      exit 1 ;;
    bomb.2) bomb() { bomb | bomb & }; bomb; sleep 600 ;;
    flood.1) while printf %0100000d 0; do sleep 0.1; done ;;
  esac`;
  const automations = ['bomb', 'deep', 'flood', 'leave', 'trap'];
  const { store, post, runsOf, daemon } = await serve(automations, 'sh', script, {
    ...{ user, directory, processes: 100, timeLimitSeconds: 3, attempts: 2 },
  });
  const passwd = statSync('/etc/passwd');
  const find = async (delivery: string, name: string) =>
    (await runsOf(delivery)).find(({ automation }) => automation === name);
  const reaches = (delivery: string, name: string, expected: object) =>
    expect.poll(() => find(delivery, name), { timeout: 60_000 }).toMatchObject(expected);

  const first = await post('1');
  for (const name of ['deep', 'leave', 'trap']) await reaches(first, name, { state: 'succeeded' });
  const error = 'the command timed out after 3 s';
  await reaches(first, 'flood', { state: 'failed', error });
  const [deep = '', leave = '', trap = ''] = await Promise.all(
    ['deep', 'leave', 'trap'].map(async name => (await find(first, name))?.id),
  );
  expect(readFileSync(join(directory, trap, 'second'), 'utf8')).toMatch(/^Do trap\.\n.*\n1$/s);
  const names = ['event-headers.json', 'event-payload.json', 'found', 'home', 'prompt.md', 'second'];
  const home = join(directory, trap, 'home');
  expect(readFileSync(join(directory, trap, 'found'), 'utf8')).toBe(`.:\n${names.join('\n')}\n\n${home}:\n`);
  expect(existsSync(join(directory, `${trap}.old`))).toBe(false);
  expect(await outputOf({ store }, trap)).not.toContain('root:');
  expect(statSync('/etc/passwd')).toMatchObject({ uid: passwd.uid, mode: passwd.mode, size: passwd.size });
  expect(await outputOf({ store }, leave)).toContain('left');
  expect(processesWith(leftover)).toEqual([]);
  await store.runFiles.remove(deep);
  expect(existsSync(join(directory, deep))).toBe(false);

  const second = await post('2');
  await reaches(second, 'bomb', { state: 'running' });
  for (let n = 3; n < 8; n++) await post(String(n));
  expect((await daemon.readyz()).status).toBe('ready');
  await reaches(second, 'bomb', { state: 'failed', error });
  const last = await post('8');
  for (const name of automations) await reaches(last, name, { state: 'succeeded' });
});

asRoot('commands that run as another user end with a daemon that is killed', async () => {
  const leftover = `601.${process.pid}`;
  const { post, daemon } = await serve(['hold'], 'sh', `setsid sleep ${leftover}`, {
    ...{ user, directory: enterable() },
  });
  await post('{}');
  await expect.poll(() => processesWith(leftover).length).toBeGreaterThan(0);
  await daemon.stop('SIGKILL');
  await expect.poll(() => processesWith(leftover)).toEqual([]);
});

// Exchanges `artifacts` and `link` without end in the directory that a file names: renameat2(2) with RENAME_EXCHANGE.
const exchange = `my ($number, $now) = @ARGV;
  for (;;) {
    open(my $file, '<', $now) or next;
    chomp(my $directory = <$file> // '');
    syscall($number + 0, -100, "$directory/artifacts", -100, "$directory/link", 2) for 1 .. 100;
  }`;
const renameat2 = new Map([
  ['x64', 316],
  ['arm64', 276],
]).get(process.arch);
const hasPerl = spawnSync('perl', ['-e', '1']).status === 0;

test.runIf(canBecomeOthers && hasPerl && renameat2)(
  'no file of the home becomes an artifact while another run of the user swaps the directory with a link',
  async () => {
    const directory = enterable();
    const shared = enterable();
    chmodSync(shared, 0o777);
    const bench = await openRunBench();
    writeFileSync(join(bench.home.directory, 'key'), 'the key', { mode: 0o600 });
    writeFileSync(join(shared, 'exchange'), exchange, { mode: 0o644 });
    // The first run swaps. Each other one ends once it sees that its directory is being swapped.
    const script = `mkdir ${shared}/swapping 2> ${shared}/errors && exec perl ${shared}/exchange ${renameat2} ${shared}/now
      mkdir artifacts && echo own > artifacts/own && ln -s ${bench.home.directory} link && chmod 777 . artifacts
      pwd > ${shared}/next && mv ${shared}/next ${shared}/now
      until [ -L artifacts ]; do :; done`;
    const runner = { kind: 'command', argv: ['sh', '-c', script], user };
    await bench.start({ runner, directory, attempts: 1 });
    const swapping = await recordRun(bench.deliveryLog);
    await expect.poll(() => existsSync(join(shared, 'swapping'))).toBe(true);
    for (let round = 0; round < (inject('isLong') ? 200 : 5); round++) {
      const id = await recordRun(bench.deliveryLog);
      await runThatIs(bench, id, { state: 'succeeded' });
      const artifacts = await bench.store.runFiles.listArtifacts(id);
      expect(artifacts.filter(({ name }) => name !== 'own')).toEqual([]);
      expect(statSync(join(directory, id))).toMatchObject({ uid: 0, mode: 0o40700 });
    }
    expect(await bench.store.deliveries.findRun(swapping)).toMatchObject({ state: 'running' });
  },
);
