import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

async function withHome(): Promise<Workspace> {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('tokens', 'create', 'me');
  return workspace;
}

describe('a home is refused', () => {
  test.each([
    ['that every user can write to', '', 0o777, '700'],
    ['that a group can write to', '', 0o770, '700'],
    ['whose key every user can read', '/key', 0o644, '600'],
    ['whose secrets a group can read', '/secrets.json', 0o640, '600'],
    ['whose API tokens every user can write', '/tokens.json', 0o622, '600'],
  ])('%s', async (_, file, mode, right) => {
    const workspace = await withHome();
    const path = workspace.home + file;
    chmodSync(path, mode);
    const { stderr, exitCode } = await workspace.hookmill('secrets', 'list');
    expect(stderr).toBe(
      `hookmill: other users can access ${path} (mode ${mode.toString(8)}); if you made this home, run: chmod ${right} ${path}\n`,
    );
    expect(exitCode).toBe(1);
    chmodSync(path, Number.parseInt(right, 8));
    expect((await workspace.hookmill('secrets', 'list')).exitCode).toBe(0);
  });

  test('that came with the repository, unless it was named; one that git ignores is not', async () => {
    const workspace = await withHome();
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.directory });
    git('init', '-q');
    const serve = (...words: string[]) => workspace.hookmill('status', ...words);
    expect((await serve()).exitCode).toBe(0);
    git('add', '-f', '.hookmill/tokens.json');
    // Whoever made the repository may also have made its configuration.
    git('config', 'core.fsmonitor', `touch ${workspace.path('started')}; false`);
    const { stderr, exitCode } = await serve();
    expect(stderr).toContain(`${workspace.home} came with the repository`);
    expect(exitCode).toBe(1);
    expect(() => workspace.read('started')).toThrow('ENOENT');
    expect((await serve('--home', '.hookmill')).exitCode).toBe(0);
    mkdirSync(workspace.path('below'));
    expect((await serve('-C', 'below')).exitCode).toBe(0);
  });

  test('that came with the repository, with more files than hookmill reads names', async () => {
    const workspace = await withHome();
    const git = (args: string[], input?: string) =>
      execFileSync('git', args, { cwd: workspace.directory, encoding: 'utf8', input });
    git(['init', '-q']);
    const blob = git(['hash-object', '-w', '--stdin'], '').trim();
    const names = Array.from({ length: 80_000 }, (_, index) => String(index).padStart(220, '0'));
    const entries = names.map(name => `100644 ${blob}\t.hookmill/runs/${name}\n`);
    git(['update-index', '--index-info'], entries.join(''));
    const { stderr } = await workspace.hookmill('status');
    expect(stderr).toContain(`${workspace.home} came with the repository`);
  });
});

test.each([
  ['token', 'authMode: token\n'],
  ['url_token', 'authMode: url_token\n'],
  ['signature', 'authMode: signature\nsignatureScheme: github\n'],
])(
  'send gives no secret of a %s webhook to a URL that only hookmill.yaml names',
  async (mode, definition) => {
    const workspace = await withHome();
    workspace.write('webhooks/a.yaml', `${definition}secretName: TOKEN\n`);
    workspace.write('body.json', '{}');
    await workspace.hookmill('apply');
    const received: IncomingMessage[] = [];
    const url = await startLoopbackServer((request, response) => {
      received.push(request);
      response.end();
    });
    workspace.write('hookmill.yaml', `baseUrl: ${url}\n`);
    const send = (env = {}) => workspace.hookmill('send', 'a', '--payload', 'body.json', { env });
    // Naming the home confirms the home, and not what hookmill.yaml says.
    for (const env of [{}, { HOOKMILL_HOME: workspace.home }]) {
      const { stderr, exitCode } = await send({ ...env, HOOKMILL_PORT: '1' });
      expect(stderr).toContain('http://127.0.0.1:1 does not answer');
      expect({ exitCode, received }).toEqual({ exitCode: 1, received: [] });
    }
    expect((await send({ HOOKMILL_BASE_URL: url })).exitCode).toBe(0);
    const [{ headers = {}, url: path = '' } = {}] = received;
    const credential = {
      token: headers.authorization,
      url_token: path.split('/')[4],
      signature: headers['x-hub-signature-256'],
    };
    expect(credential[mode as keyof typeof credential]).toMatch(/.{32}/);
  },
);

test('apply does not replace a factory of another directory that only hookmill.yaml names', async () => {
  const workspace = await withHome();
  for (const directory of ['mine', 'checkout']) {
    workspace.write(`${directory}/webhooks/a.yaml`, `secretName: TOKEN\nenabled: ${directory === 'mine'}\n`);
    workspace.write(`${directory}/hookmill.yaml`, 'factory: shop\n');
  }
  await workspace.hookmill('secrets', 'share', 'TOKEN', 'shop');
  const env = { HOOKMILL_HOME: workspace.home };
  const apply = async (directory: string, variables = {}) =>
    workspace.hookmill('apply', '-C', directory, { env: { ...env, ...variables } });
  expect((await apply('mine')).exitCode).toBe(0);
  const { stderr, exitCode } = await apply('checkout');
  expect(stderr).toContain(
    `hookmill.yaml names the factory shop, which was applied from ${workspace.path('mine')}; if you mean it, add --factory shop`,
  );
  expect(exitCode).toBe(2);
  expect((await apply('mine')).stdout).toContain('No changes');
  expect((await apply('checkout', { HOOKMILL_FACTORY: 'shop' })).exitCode).toBe(0);
});
