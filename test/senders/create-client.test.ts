import { expect, test } from 'vitest';
import { createProviderClient, type HookSender } from '../../senders/create-client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startGithubApi } from '../support/senders/github-api.ts';
import { startGitlabApi } from '../support/senders/gitlab-api.ts';
import { failureOf } from './failure-of.ts';

const create = (sender: HookSender, trustedUrls: readonly string[], credential = 'github-token') =>
  createProviderClient(sender, credential, {
    ...{ trustedUrls, stopping: new AbortController().signal, nowMs: Date.now },
  });

test('the provider of the definition is asked about what the definition names', async () => {
  const github = await startGithubApi({ basePath: '/api/v3' });
  github.addHook('acme/shop', { config: { url: 'https://repository.example.com/' } });
  github.addHook('acme', { config: { url: 'https://organization.example.com/' } });
  const gitlab = await startGitlabApi();
  gitlab.addHook('acme/shop', { url: 'https://project.example.com/' });
  gitlab.addHook('acme', { url: 'https://group.example.com/' });
  const urlOf = async (sender: HookSender, credential: string) => {
    const hooks = await create(sender, [github.url, gitlab.url], credential).listHooks();
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

test.each(['github', 'gitlab'] as const)(
  'a server of the own network is asked only if the operator lists it: %s',
  async provider => {
    const server = await startReceiver((_request, response) => response.end('[]'));
    const { origin, port } = new URL(server.url);
    const sender: HookSender =
      provider === 'github'
        ? { provider, repository: 'acme/shop', url: origin }
        : { provider, project: 'acme/shop', url: origin };
    for (const trusted of [
      [],
      ['https://github.com'],
      [`http://localhost:${port}`],
      [`https://127.0.0.1:${port}`],
    ]) {
      const failure = await failureOf(create(sender, trusted).listHooks());
      expect(failure.code).toBe('refused');
      expect(failure.message).toMatch(/it has no https; the operator can list it in senders\.urls$/);
    }
    expect(server.requests).toEqual([]);
    const failure = await failureOf(create({ ...sender, url: 'https://localhost:1' }, []).listHooks());
    expect(failure.message).toMatch(/localhost has an address that is not public; .* senders\.urls$/);
    expect(await create(sender, [`${origin}/some/path`]).listHooks()).toEqual([]);
  },
);
