import { expect, test } from 'vitest';
import type { WebhookSender } from '../../../schema/definitions/sender-keys.ts';
import { createProviderClient } from '../../../senders/create-client.ts';
import { startReceiver } from '../../support/loopback-server.ts';
import { failureOf } from '../../support/senders/failure-of.ts';
import { startGithubApi } from '../../support/senders/github-api.ts';
import { startGitlabApi } from '../../support/senders/gitlab-api.ts';

type Asked = Omit<WebhookSender, 'credentialSecret'>;

const create = (sender: Asked, isTrusted: boolean, credential = 'github-token') =>
  createProviderClient({ ...sender, credentialSecret: 'HOOKS' }, credential, {
    ...{ isTrusted, stopping: new AbortController().signal, nowMs: Date.now },
  });

test('the provider of the definition is asked about what the definition names', async () => {
  const github = await startGithubApi({ basePath: '/api/v3' });
  github.addHook('acme/shop', { config: { url: 'https://repository.example.com/' } });
  github.addHook('acme', { config: { url: 'https://organization.example.com/' } });
  const gitlab = await startGitlabApi();
  gitlab.addHook('acme/shop', { url: 'https://project.example.com/' });
  gitlab.addHook('acme', { url: 'https://group.example.com/' });
  const urlOf = async (sender: Asked, credential: string) => {
    const hooks = await create(sender, true, credential).listHooks();
    return hooks.map(hook => hook.url);
  };
  const atGitHub = { provider: 'github', url: github.url } as const;
  const atGitLab = { provider: 'gitlab', url: gitlab.url } as const;
  expect([
    ...(await urlOf({ ...atGitHub, repository: 'acme/shop' }, 'github-token')),
    ...(await urlOf({ ...atGitHub, organization: 'acme' }, 'github-token')),
    ...(await urlOf({ ...atGitLab, project: 'acme/shop' }, 'gitlab-token')),
    ...(await urlOf({ ...atGitLab, group: 'acme' }, 'gitlab-token')),
  ]).toEqual(['repository', 'organization', 'project', 'group'].map(name => `https://${name}.example.com/`));
});

test.each<[Asked, string]>([
  [{ provider: 'github', repository: 'acme/shop' }, 'https://api.github.com/repos/acme/shop/hooks'],
  [
    { provider: 'github', organization: 'acme', url: 'https://octo.ghe.com' },
    'https://api.octo.ghe.com/orgs/acme/hooks',
  ],
  [{ provider: 'gitlab', project: 'acme/shop' }, 'https://gitlab.com/api/v4/projects/acme%2Fshop/hooks'],
])('a definition without a server of its own means the public one: %j', async (sender, url) => {
  // Nothing is sent, because hookmill has stopped.
  const options = { isTrusted: false, stopping: AbortSignal.abort(), nowMs: Date.now };
  const failure = await failureOf(
    createProviderClient({ ...sender, credentialSecret: 'HOOKS' }, 'token', options).listHooks(),
  );
  expect(failure).toMatchObject({
    code: 'unreachable',
    message: expect.stringMatching(/^Git(Hub|Lab) cannot be asked: .*: hookmill ended the request$/),
  });
  expect(failure.message).toContain(url);
});

test.each(['github', 'gitlab'] as const)(
  'a server of the own network is asked only if the operator lists it: %s',
  async provider => {
    const server = await startReceiver((_request, response) => response.end('[]'));
    const { origin } = new URL(server.url);
    const sender: Asked =
      provider === 'github'
        ? { provider, repository: 'acme/shop', url: origin }
        : { provider, project: 'acme/shop', url: origin };
    const failure = await failureOf(create(sender, false).listHooks());
    expect(failure.code).toBe('refused');
    expect(failure.message).toMatch(/it has no https; the operator can list it in senders\.urls$/);
    const own = await failureOf(create({ ...sender, url: 'https://localhost:1' }, false).listHooks());
    expect(own.message).toMatch(/localhost has an address that is not public; .* senders\.urls$/);
    expect(server.requests).toEqual([]);
    expect(await create(sender, true).listHooks()).toEqual([]);
  },
);
