import { createHmac } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseTime } from '../../../../cli/input/options.ts';
import { eventually } from '../../../support/eventually.ts';
import { newHome } from '../../../support/factory.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { send } from '../../../support/http.ts';
import { startAlteringServer, startLoopbackServer } from '../../../support/loopback-server.ts';
import { openFactory, openManagedDaemon, useManagedDaemon } from '../../../support/management.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

// A run fails until its directory has this file.
const runner = { kind: 'command', argv: ['sh', '-c', 'test -e go'], keep: true };
const followed = 'echo one; until [ -e go ]; do sleep 0.05; done; echo two';
const runners = { followed: { kind: 'command', argv: ['sh', '-c', followed], factories: ['*'] } };
const shared = useManagedDaemon({ runs: { attempts: 1, runner, runners } });

/** A factory with the webhook `deploys` and the automation `triage`, and a directory for commands that work on it. */
async function openScene(daemon = shared(), automation: object = {}) {
  const { call, env } = await openFactory(daemon);
  const { webhook, revealed } = (await call('createWebhook', { body: { name: 'deploys' } })).json;
  const filter = { webhook_ids: [webhook.uid], payload: { level: ['error'] } };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  await call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers, ...automation } });
  const headers = { Authorization: `Bearer ${revealed.secret}` };
  const post = async (body: object) =>
    (await send(webhook.url, { headers, body: JSON.stringify(body) })).deliveryId ?? '';
  return { daemon, workspace: makeWorkspace(), call, env, post, url: webhook.url };
}

describe('times', () => {
  const nowMs = Date.parse('2026-03-10T12:00:00Z');
  test.each([
    ['90s', '2026-03-10T11:58:30Z'],
    ['1h30m', '2026-03-10T10:30:00Z'],
    ['7d', '2026-03-03T12:00:00Z'],
    ['2026-03-09T08:15:30.5+02:00', '2026-03-09T06:15:30.5Z'],
    ['2026-03-09t06:15z', '2026-03-09T06:15:00Z'],
    ['2026-03-09', '2026-03-09T00:00:00'],
    ['2026-03-09 06:15', '2026-03-09T06:15:00'],
  ])('%s', (text, expected) => {
    expect(parseTime(text, nowMs)).toBe(Date.parse(expected));
  });

  test.each(['', '2', '2y', '-2h', 'yesterday', '2026-02-30', '2026-03-09T25:00Z', '2026-3-9', '2h ago'])(
    'not %j',
    text => {
      expect(() => parseTime(text, nowMs)).toThrow('is not a time');
    },
  );
});

describe('finds', () => {
  let scene: Awaited<ReturnType<typeof openScene>>;
  const ids: string[] = [];
  beforeAll(async () => {
    scene = await openScene();
    ids.push(await scene.post({ level: 'error', type: 'build.failed' }));
    ids.push(await scene.post({ level: 'info', type: 'build.done', note: 'café' }));
    await send(scene.url, { body: '1' });
    await eventually(async () => (await scene.call('listDeliveries')).json.deliveries.length === 3);
  });

  test.for<[string, number[]]>([
    ['deliveries list --outcome accepted --since 1h', [1, 0]],
    ['deliveries list --outcome accepted --until 1h', []],
    ['deliveries list --outcome accepted,duplicate --outcome handshake', [1, 0]],
    ['deliveries list --outcome duplicate,handshake', []],
    ['deliveries list --automation triage', [0]],
    ['deliveries list --event build.done', [1]],
    ['deliveries list --search café --webhook deploys', [1]],
    ['deliveries list --search build --limit 1', [1]],
    ['runs list --event build.failed --since 1h --webhook deploys', [0]],
    ['runs list --search café', []],
  ])('%s', async ([command, expected]) => {
    const env = scene.env.server;
    const { stdout, stderr } = await scene.workspace.hookmill(...command.split(' '), '-o', 'json', { env });
    expect(stderr).toBe('');
    const rows = JSON.parse(stdout) as { id: string; deliveryId?: string }[];
    expect(rows.map(({ id, deliveryId = id }) => ids.indexOf(deliveryId))).toEqual(expected);
  });

  test('the titles of deliveries, in the table and of one', async () => {
    const { hookmill } = scene.workspace;
    const env = scene.env.home;
    const list = await hookmill('deliveries', 'list', '--search', 'café', { env });
    expect(list.stdout).toMatch(/Accepted +build\.done · info · café\n/);
    const show = await hookmill('deliveries', 'show', ids[1] ?? '', { env });
    expect(show.stdout).toMatch(/^event +build\.done · info · café$/m);
  });

  test('a name that nothing has', async () => {
    const env = scene.env.server;
    const unknown = await scene.workspace.hookmill('deliveries', 'list', '--automation', 'triaje', { env });
    expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unknown.stderr).toContain('triaje');
  });
});

test('follows deliveries and runs through a restart of the server: each once, none left out', async () => {
  const managementPort = await findFreePort();
  const home = newHome();
  const scene = await openScene(await openManagedDaemon({ managementPort }, home));
  const { workspace, call } = scene;
  const env = scene.env.server;
  const first = await scene.post({ level: 'error', n: 0 });
  const deliveries = startFollowing(workspace.start(['deliveries', 'list', '-f', '-o', 'json'], { env }));
  const runs = startFollowing(
    workspace.start(['runs', 'list', '--follow', '--state', 'succeeded', '-o', 'json'], { env }),
  );
  await eventually(() => deliveries.lines.length === 1);
  await eventually(() => runs.lines.length === 1);
  const second = await scene.post({ level: 'error', n: 1 });
  await eventually(() => deliveries.lines.length === 2);
  await scene.daemon.stop();
  await eventually(() => deliveries.stderr().includes('trying again in'));

  const again = await openManagedDaemon({ managementPort }, home);
  onTestFinished(() => again.stop());
  const url = scene.url.replace(new URL(scene.url).origin, new URL(again.ingressUrl).origin);
  const created = (await call('listWebhooks')).json;
  expect(created.webhooks).toHaveLength(1);
  await send(url, { body: '2' });
  await eventually(() => deliveries.lines.length === 3);
  await eventually(() => runs.lines.length === 2);
  expect(deliveries.lines.map(({ id }) => id).slice(0, 2)).toEqual([first, second]);
  expect(deliveries.lines[2]).toMatchObject({ outcome: 'Rejected (auth)' });
  expect(runs.lines).toMatchObject([{ deliveryId: first }, { deliveryId: second, state: 'succeeded' }]);
  expect(deliveries.stderr()).toContain('Connected again.');
});

test('follows the output of a run until it has ended', async () => {
  const scene = await openScene(shared(), { runner: 'followed' });
  await scene.post({ level: 'error' });
  const { id } = (await scene.call('listRuns')).json.runs[0];
  const args = ['runs', 'logs', id, '--follow'];
  for (const env of Object.values(scene.env)) {
    const following = scene.workspace.start(args, { env });
    let printed = '';
    following.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk;
    });
    await eventually(() => printed.includes('one\n'));
    if ('HOOKMILL_TOKEN' in env) writeFileSync(join(scene.daemon.store.runFiles.locate(id), 'go'), '');
    else following.kill('SIGINT');
    const { exitCode, signal, stderr } = await following;
    if ('HOOKMILL_TOKEN' in env) {
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'The run has succeeded.\n' });
      expect(printed).toMatch(/^\[hookmill: .*\]\none\ntwo\n/);
    } else expect({ signal, stderr }).toEqual({ signal: 'SIGINT', stderr: '' });
  }
  const { stdout } = await scene.workspace.hookmill(...args.slice(0, 3), { env: scene.env.home });
  expect(stdout).toContain('one\ntwo\n');
});

describe('with many:', () => {
  test('replays deliveries', async () => {
    const { call, workspace, post, ...scene } = await openScene();
    const env = scene.env.server;
    const replay = (...args: string[]) => workspace.hookmill('deliveries', 'replay', ...args, { env });
    const ids: string[] = [];
    for (const level of ['error', 'info', 'error']) ids.push(await post({ level, n: ids.length }));
    const replays = async () =>
      (await call('listRuns')).json.runs.filter((run: { replay: boolean }) => run.replay);

    const dry = await replay('--since', '1h', '--dry-run', '-o', 'json');
    expect(JSON.parse(dry.stdout).map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(dry.stderr).toBe('3 deliveries to replay.\n');
    const unconfirmed = await replay('--since', '1h');
    expect(unconfirmed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unconfirmed.stderr).toContain('3 deliveries to replay; nothing was replayed');
    const unknown = await replay('--since', '1h', '--automation', 'triaje', '--yes');
    expect(unknown).toMatchObject({ exitCode: 1 });
    expect(unknown.stderr).toContain('Repeat the command to replay the other 3.');
    expect(await replays()).toEqual([]);

    const done = await replay('--since', '1h', '--yes', '--rate', '500', '-o', 'json');
    expect(JSON.parse(done.stdout)).toMatchObject({
      ...{ matched: 3, replayed: 2, rest: 0 },
      refused: [{ id: ids[1], code: 'nothing-to-replay' }],
      results: [{ delivery: ids[0], runs: [{ automation: 'triage' }] }, { delivery: ids[2] }],
    });
    expect(done.stderr).toBe(
      `1 delivery not replayed: No automation matches the delivery (${ids[1]})\n2 of 3 deliveries replayed.\n`,
    );
    expect(await replays()).toHaveLength(2);
    const rest = await replay('--since', '1h', '--after', ids[1] ?? '', '--yes');
    expect(rest).toMatchObject({ exitCode: 0, stderr: '1 of 1 delivery replayed.\n' });
    expect(await replays()).toHaveLength(3);
  });

  test('retries failed runs', async () => {
    const { call, workspace, post, daemon, ...scene } = await openScene();
    const env = scene.env.home;
    for (let count = 0; count < 2; count++) await post({ level: 'error', count });
    const inState = async (state: string) =>
      (await call('listRuns', { query: { state } })).json.runs as { id: string }[];
    await eventually(async () => (await inState('failed')).length === 2);
    for (const { id } of await inState('failed'))
      writeFileSync(join(daemon.store.runFiles.locate(id), 'go'), '');
    const retried = await workspace.hookmill('runs', 'retry', '--since', '1h', '--yes', '--rate', '500', {
      env,
    });
    expect(retried).toMatchObject({ exitCode: 0, stdout: '', stderr: '2 of 2 runs retried.\n' });
    // The command has a clock of its own.
    daemon.clock.nowMs = Date.now();
    await eventually(async () => (await inState('succeeded')).length === 2);
    const none = await workspace.hookmill('runs', 'retry', '--since', '1h', '--yes', { env });
    expect(none).toMatchObject({ exitCode: 0, stderr: '0 runs to retry.\n' });
  });

  test('says where to go on when it is interrupted', async () => {
    const scene = await openScene();
    const ids = [await scene.post({ level: 'error' }), await scene.post({ level: 'error', n: 1 })];
    const env = scene.env.server;
    const args = ['deliveries', 'replay', '--since', '1h', '--yes', '--rate', '0.01'];
    const replaying = scene.workspace.start(args, { env });
    await eventually(async () => (await scene.call('listRuns')).json.runs.length === 3);
    replaying.kill('SIGINT');
    const { exitCode, stderr } = await replaying;
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Repeat the command with --after ${ids[0]} to replay the other 1.`);
  });

  test.each([
    ['deliveries replay', 'name one delivery'],
    ['deliveries replay dlv_1 --since 1h', 'name one delivery'],
    ['deliveries replay --outcome duplicate', 'only deliveries with the outcome Accepted'],
    ['runs retry', 'name a run'],
    ['runs cancel', 'name a run'],
    ['runs cancel run_1 --since 1h', 'name a run'],
    ['runs cancel --state failed', 'only queued and running runs'],
    ['runs retry --state queued', 'only failed runs'],
    ['runs retry --since 1h --rate 0', '--rate must be'],
  ])('refuses %s', async (command, message) => {
    const refused = await makeWorkspace().hookmill(...command.split(' '));
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain(message);
  });
});

describe('prints a curl command', () => {
  // Whoever sends the same body is told the ID of its delivery.
  test.for(['token', 'url_token'])(
    'that sends a delivery again to a webhook with a %s, byte for byte',
    async authMode => {
      const { call, env } = await openFactory(shared());
      const workspace = makeWorkspace();
      const body = { name: 'deploys', authMode, keepHeaders: ['X-Odd', 'X-Empty'] };
      const { webhook, revealed } = (await call('createWebhook', { body })).json;
      const { url = webhook.url } = revealed;
      const secret = revealed.secret ?? url.split('/').at(-1);
      const odd = `it's "$(touch pwned)" \`touch pwned\` \\ ! {a,b} [1-2] @x`;
      const texts = [odd, 'zwei\nZeilen é', '\u202etxt\u007f', 'x'.repeat(100_000)];
      // The body is printed the same way, whatever authenticates it.
      for (const text of authMode === 'token' ? texts : [odd]) {
        const authorization = authMode === 'token' ? { Authorization: `Bearer ${secret}` } : {};
        const headers = { ...authorization, 'X-Odd': `${odd} ${authMode}`, 'X-Empty': '' };
        const { deliveryId = '' } = await send(url, { headers, body: JSON.stringify({ text }, null, 1) });
        const shown = await workspace.hookmill('deliveries', 'show', deliveryId, '-o', 'curl', {
          env: env.server,
        });
        expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
        expect(shown.stdout).not.toContain(secret);
        const given = { cwd: workspace.directory, env: { WEBHOOK_SECRET: secret }, input: shown.stdout };
        const sent = await execa('sh', given);
        expect(JSON.parse(sent.stdout)).toEqual({ delivery_id: deliveryId });
        const [latest] = (await call('listDeliveries', { query: { limit: '1' } })).json.deliveries;
        expect(latest).toMatchObject({ outcome: 'Duplicate', duplicateOf: deliveryId });
      }
      expect(existsSync(workspace.path('pwned'))).toBe(false);
    },
  );

  describe('of a hostile server', () => {
    const body = '@/etc/passwd \n{}';
    let scene: Awaited<ReturnType<typeof openScene>>;
    beforeAll(async () => {
      scene = await openScene();
    });

    /** The command that is printed if a server answers this in place of what is true. */
    const show = async (lies: { url?: string; headers?: object; name?: string; secretName?: string }) => {
      const { daemon, workspace, post, env } = scene;
      const id = await post({});
      const { headers, ...webhook } = lies;
      const url = await startAlteringServer(
        daemon.managementUrl,
        (answer, path) => {
          if (path.endsWith(`/deliveries/${id}`)) return { ...answer, headers };
          return { ...answer, webhooks: answer.webhooks.map((given: object) => ({ ...given, ...webhook })) };
        },
        () => body,
      );
      const server = { ...env.server, HOOKMILL_SERVER: url };
      const shown = await workspace.hookmill('deliveries', 'show', id, '-o', 'curl', { env: server });
      return { ...shown, workspace };
    };

    test('that reads no file and obeys nothing, whatever the server says', async () => {
      let received: { headers: IncomingHttpHeaders; body: string; url: string | undefined } | undefined;
      const origin = await startLoopbackServer(async (request, response) => {
        received = { headers: request.headers, body: await text(request), url: request.url };
        response.end();
      });
      const { stdout, exitCode, workspace } = await show({
        url: `${origin}/{a,b}[1-9]?~$(>pwned)\x1b[2J\u202e`,
        name: `x;touch pwned`,
        secretName: '\ntouch pwned #\x1b[2J',
        headers: {
          '@kept.txt': '',
          '-o kept.txt': 'x',
          'x-line\r\nx-other': 'x',
          'Transfer-Encoding': 'chunked',
          HOST: 'elsewhere.example',
          'x-escape': '\x1b[2J',
          'x-file': '@kept.txt',
          'x-good': '-K kept.txt',
        },
      });
      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(/(?!\n)\p{C}/u);
      workspace.write('kept.txt', 'x-kept: a secret\n');
      const given = { cwd: workspace.directory, env: { WEBHOOK_SECRET: 'secret' }, input: stdout };
      expect(await execa('sh', given)).toMatchObject({ stdout: '', exitCode: 0 });
      expect(received?.body).toBe(body);
      expect(received?.url).toContain('/{a,b}[1-9]?~$(>pwned)');
      expect(received?.headers).toMatchObject({ 'x-file': '@kept.txt', 'x-good': '-K kept.txt' });
      expect(received?.headers.host).toBe(new URL(origin).host);
      expect(JSON.stringify(received)).not.toContain('a secret');
      expect(received?.headers).not.toHaveProperty('x-other');
      expect(existsSync(workspace.path('pwned'))).toBe(false);
    });

    test.for(['-K/etc/passwd', '@/etc/passwd', 'file:///etc/passwd', ' http://127.0.0.1'])(
      'not for the URL %j, which is none of a webhook',
      async url => {
        const { stdout, stderr, exitCode } = await show({ url });
        expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
        expect(stderr).toContain('sent an answer that this version of hookmill does not know');
      },
    );
  });

  test('that says what is missing of a signed delivery, and only for what has a body and a webhook', async () => {
    const { call, env } = await openFactory(shared());
    const workspace = makeWorkspace();
    const secret = { kind: 'supplied', value: 'a-secret-of-github' };
    const body = { name: 'git', authMode: 'signature', signatureScheme: 'github', secret };
    const { webhook } = (await call('createWebhook', { body })).json;
    const signature = createHmac('sha256', secret.value).update('{}').digest('hex');
    const headers = { 'X-Hub-Signature-256': `sha256=${signature}`, 'X-GitHub-Event': 'push' };
    const { deliveryId = '' } = await send(webhook.url, { headers, body: '{}' });
    const show = (...more: string[]) =>
      workspace.hookmill('deliveries', 'show', deliveryId, ...more, { env: env.server });
    const { stdout } = await show('-o', 'curl');
    expect(stdout).toContain('# The signature of github is missing');
    expect(stdout).toContain('hookmill send git --payload body.json');
    expect(stdout).toContain(`curl --globoff ${webhook.url} \\\n`);
    expect(stdout).toContain(`-H 'x-github-event: push'`);
    expect(stdout).not.toContain(signature);
    await call('deleteWebhook', { params: { uid: webhook.uid } });
    const gone = await show('-o', 'curl');
    expect(gone).toMatchObject({ exitCode: 1, stdout: '' });
    expect(gone.stderr).toContain('no longer applied');
    const other = await workspace.hookmill('webhooks', 'show', 'git', '-o', 'curl');
    expect(other.stderr).toContain('works only with hookmill deliveries show');
  });
});

/** Collects what a following command prints, and ends it with the test. */
function startFollowing(process: ReturnType<ReturnType<typeof makeWorkspace>['start']>) {
  const lines: { id: string; deliveryId?: string; outcome?: string; state?: string }[] = [];
  let errors = '';
  createInterface(process.stdout as Readable).on('line', line => lines.push(JSON.parse(line)));
  process.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  onTestFinished(() => void process.kill('SIGKILL'));
  return { lines, stderr: () => errors };
}
