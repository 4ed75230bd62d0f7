import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitCommand, runGit } from '../../../../sources/repository/git/git-command.ts';
import { makeGitEnvironment } from '../../../../sources/repository/git/git-environment.ts';
import { mirrorDirectory } from '../../../../store/home/home.ts';
import {
  fakeGit,
  followedFactory,
  makeUpstream,
  operatorEnvironment,
  repositoryAt,
  temporaryDirectory,
  webhook,
} from '../../../support/git-samples.ts';
import { serveGitDaemon, serveGitOverHttp, serveHttp, serveSilence } from '../../../support/git-servers.ts';

test('follows a branch served by git daemon', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { reconcile } = await followedFactory(`${await serveGitDaemon(dirname(upstream.bare))}/upstream.git`);
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  const revision = upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { source: { revision } } });
  expect(await reconcile()).toMatchObject({ result: 'unchanged' });
});

test('sends a team secret over HTTP, uses its new value, and writes it nowhere', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const password = `it's "$HOME" \`id\` \\n %s & 100%`;
  const url = await serveGitOverHttp(dirname(upstream.bare), 'hookmill', password);
  const { factory, reconcile } = await followedFactory(`${url}/upstream.git`, {
    S: 'a'.repeat(32),
    TOKEN: 'wrong',
  });
  const credential = { username: 'hookmill', secretName: 'TOKEN' };

  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'remote' });
  expect(await reconcile({}, { credential: { ...credential, secretName: 'NONE' } })).toMatchObject({
    reason: 'credential',
    message: expect.stringContaining('NONE'),
  });
  expect(await reconcile({}, { credential })).toMatchObject({
    result: 'failed',
    reason: 'remote',
    message: expect.stringContaining('Authentication failed'),
  });
  await factory.store.teamSecrets.set('TOKEN', password);
  expect(await reconcile({}, { credential })).toMatchObject({ result: 'applied' });
  const mirror = mirrorDirectory(factory.home, factory.name);
  expect(readFileSync(join(mirror, 'config'), 'utf8')).not.toContain(password);
});

test("asks the operator's own credential helper", async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const url = await serveGitOverHttp(dirname(upstream.bare), 'ada', 'from-helper');
  const config = join(temporaryDirectory(), 'config');
  writeFileSync(config, '[credential]\n\thelper = "!echo username=ada; echo password=from-helper;:"\n');
  const { reconcile } = await followedFactory(`${url}/upstream.git`);
  const environment = { ...operatorEnvironment, GIT_CONFIG_GLOBAL: config };
  expect(await reconcile({ environment })).toMatchObject({ result: 'applied' });
});

test("uses the operator's GIT_SSH_COMMAND, in a session without a terminal to ask on", async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const directory = temporaryDirectory();
  const [ssh, session] = [join(directory, 'ssh'), join(directory, 'session')];
  // Stands in for ssh: runs the command here.
  const script = `#!/bin/sh\nps -o sid= -p $$ > ${session}\nfor last; do :; done\nexec sh -c "$last"\n`;
  writeFileSync(ssh, script);
  chmodSync(ssh, 0o700);
  const { reconcile } = await followedFactory(`git@example.invalid:${upstream.bare}`);
  const environment = { ...operatorEnvironment, GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: 'ssh' };
  expect(await reconcile({ environment })).toMatchObject({ result: 'applied' });
  const own = execFileSync('ps', ['-o', 'sid=', '-p', String(process.pid)], { encoding: 'utf8' });
  expect(readFileSync(session, 'utf8')).not.toBe(own);
});

test('sends the credential to no other host that it is redirected to', async () => {
  const seen: (string | undefined)[] = [];
  const other = await serveHttp((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  });
  const url = await serveHttp((request, response) => {
    response.writeHead(302, { location: `${other}${request.url}` }).end();
  });
  const { reconcile } = await followedFactory(`${url}/x.git`, { TOKEN: 'hunter2hunter2' });
  const credential = { username: 'hookmill', secretName: 'TOKEN' };
  expect(await reconcile({}, { credential })).toMatchObject({ result: 'failed', reason: 'remote' });
  expect(seen).toEqual([undefined]);
});

const pages = {
  'a page': 'text/html',
  'a page that is said to be of git': 'application/x-git-upload-pack-advertisement',
};
// gitprotocol-http: an advertisement without refs.
const noRefs = '001e# service=git-upload-pack\n00000000';

test.for([
  ...Object.entries(pages).map(([what, type]) => [what, type, '<!doctype html><title>Sign in</title>\n']),
  ['no refs', 'application/x-git-upload-pack-advertisement', noRefs],
  ['nothing', 'text/plain', ''],
] as const)('says that a host which answers with %s lists no branches', async ([_, type, body]) => {
  const url = await serveHttp((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
  const { reconcile } = await followedFactory(`${url}/x.git`);
  expect(await reconcile()).toMatchObject(listsNoBranches);
});

test('says that a host which redirects to a sign-in lists no branches', async () => {
  const url = await serveHttp((request, response) => {
    if (request.url === '/sign-in') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    else response.writeHead(302, { location: '/sign-in' }).end();
  });
  const { reconcile } = await followedFactory(`${url}/x.git`);
  expect(await reconcile()).toMatchObject(listsNoBranches);
});

const listsNoBranches = {
  result: 'failed',
  reason: 'branch-missing',
  message: 'this URL lists no branches; is it a git repository, does it want a sign-in?',
};

test("keeps the home's key and other programs' prompts from git, and odd transports out of it", async () => {
  const directory = temporaryDirectory();
  const [config, canary] = [join(directory, 'config'), join(directory, 'canary')];
  const bait = join(directory, 'bait');
  writeFileSync(bait, `#!/bin/sh\nenv > ${canary}\n`);
  chmodSync(bait, 0o700);
  writeFileSync(
    config,
    `[url "ext::${bait} "]\n\tinsteadOf = git://example.invalid/\n[protocol]\n\tallow = always\n`,
  );
  const { reconcile } = await followedFactory('git://example.invalid/x.git');
  const environment = { ...operatorEnvironment, GIT_CONFIG_GLOBAL: config };
  expect(await reconcile({ environment })).toMatchObject({
    result: 'failed',
    message: expect.stringContaining("transport 'ext' not allowed"),
  });
  expect(existsSync(canary)).toBe(false);

  const ambient = {
    PATH: '/bin',
    HOOKMILL_KEY: 'k',
    SSH_ASKPASS: bait,
    EDITOR: bait,
    GIT_TRACE: '1',
    GITHUB_TOKEN: 't',
  };
  const given = makeGitEnvironment(ambient, '/m', 'https', undefined);
  expect(Object.keys(given).sort()).toEqual(
    ['GITHUB_TOKEN', 'GIT_ALLOW_PROTOCOL', 'GIT_DIR', 'GIT_TERMINAL_PROMPT', 'LC_ALL', 'PATH'].sort(),
  );
});

test("runs no hook, not even the operator's own", async () => {
  const directory = temporaryDirectory();
  const [config, hooks, canary] = ['config', 'hooks', 'canary'].map(name => join(directory, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(hooks);
  writeFileSync(join(hooks, 'reference-transaction'), `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(join(hooks, 'reference-transaction'), 0o700);
  writeFileSync(config, `[core]\n\thooksPath = ${hooks}\n[init]\n\ttemplateDir = ${directory}\n`);
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { reconcile } = await followedFactory(upstream.bare);
  const environment = { ...operatorEnvironment, GIT_CONFIG_GLOBAL: config };
  expect(await reconcile({ environment })).toMatchObject({ result: 'applied' });
  expect(existsSync(canary)).toBe(false);
});

test.each(['git', 'http'])('ends all processes of git at a time-out (%s)', async scheme => {
  const directory = temporaryDirectory();
  const { port, connected } = await serveSilence();
  const { url, transport } = repositoryAt(`${scheme}://127.0.0.1:${port}/x.git`);
  const environment = makeGitEnvironment(operatorEnvironment, directory, transport, undefined);
  let socket: Socket | undefined;
  void connected.then(first => {
    socket = first;
  });
  // With time enough that git has come as far as to connect.
  for (let timeoutMs = 250; !socket; timeoutMs *= 2) {
    const running = runGit({ directory, environment, timeoutMs, session }, git =>
      git.listRemote(['--', url]),
    );
    await expect(running).rejects.toMatchObject({ code: 'timeout' });
  }
  // Whoever held the connection is gone.
  if (!socket.closed) await once(socket, 'close');
});

test('ends all processes of git when told to while git starts', async () => {
  const directory = temporaryDirectory();
  const { port } = await serveSilence();
  const { url, transport } = repositoryAt(`http://127.0.0.1:${port}/x.git`);
  const environment = makeGitEnvironment(operatorEnvironment, directory, transport, undefined);
  for (let timeoutMs = 1; timeoutMs <= 16; timeoutMs *= 2) {
    const running = runGit({ directory, environment, timeoutMs, session }, git =>
      git.listRemote(['--', url]),
    );
    await expect(running).rejects.toMatchObject({ code: 'timeout' });
  }
  await expect.poll(() => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(url);
});

test('stops a reconcile that waits for a silent remote, and keeps that for no failure', async () => {
  const { port, connected } = await serveSilence();
  const { reconcile } = await followedFactory(`http://127.0.0.1:${port}/x.git`);
  const stopping = new AbortController();
  const running = reconcile({ signal: stopping.signal });
  const socket = await connected;
  stopping.abort();
  expect(await running).toEqual({ result: 'stopped' });
  if (!socket.closed) await once(socket, 'close');
});

test('says so when there is no git', async () => {
  const { reconcile } = await followedFactory('/x.git');
  const environment = { ...operatorEnvironment, PATH: '/nonexistent' };
  expect(await reconcile({ environment })).toMatchObject({ result: 'failed', reason: 'git-missing' });
});

const session = { prefix: [] };

describe.each([{ session }, { session: undefined }])('a git with %j', ({ session }) => {
  const run = (script: string, given: Partial<GitCommand> = {}) => {
    const { directory, PATH } = fakeGit(script);
    const command: GitCommand = { directory, environment: { PATH }, timeoutMs: 20_000, session, ...given };
    return runGit(command, git => git.raw(['ls-remote']));
  };

  test('has failed if it was killed, whatever it had printed', async () => {
    await expect(run('printf partial; kill -9 $$')).rejects.toMatchObject({ code: 'refused' });
  });

  test('is ended if it prints without end', async () => {
    await expect(run('exec yes')).rejects.toMatchObject({ code: 'too-large' });
  });

  test('is ended at its time limit, also if it goes on to print', async () => {
    const running = run('while sleep 0.01; do echo more; done', { timeoutMs: 200 });
    await expect(running).rejects.toMatchObject({ code: 'timeout', message: 'git timed out after 0.2 s' });
  });

  test('is not waited for if a process that left its session holds its output', async () => {
    const file = join(temporaryDirectory(), 'pid');
    const output = await run(
      `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & until [ -s ${file} ]; do :; done; echo done`,
    );
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    expect(output).toBe('done\n');
  });

  test('shows its own message without the password, and no output', async () => {
    const environment = { PATH: fakeGit('echo output; echo "no $HOOKMILL_GIT_PASSWORD" >&2; exit 1').PATH };
    const running = run('', { environment: { ...environment, HOOKMILL_GIT_PASSWORD: 'hunter2' } });
    await expect(running).rejects.toMatchObject({ code: 'refused', message: 'no ***' });
  });

  test('may exit with an expected code', async () => {
    expect(await run('echo none; echo why >&2; exit 1', { exitCodes: [1] })).toBe('none\n');
  });
});
