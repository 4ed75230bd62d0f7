import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { serveOidcWebhook } from '../../support/oidc-webhook.ts';
import { startTokenIssuer } from '../../support/token-issuer.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** A webhook for tokens of CI jobs, and the environment of a job in GitHub Actions that can get one. */
async function start() {
  const issuer = await startTokenIssuer();
  const managementPort = await findFreePort();
  const management = {
    ...{ issuer: issuer.issuer, audience: `http://127.0.0.1:${managementPort}` },
    ...{ claims: { repository: ['acme/shop'] }, permission: 'read' },
  };
  const oidc = { issuers: [{ issuer: issuer.issuer }], management: [management] };
  const hook = await serveOidcWebhook(issuer, { managementPort, oidc });
  onTestFinished(() => hook.daemon.stop());
  // The tokens are of now.
  Object.defineProperty(hook.daemon.clock, 'nowMs', { get: Date.now, set: () => undefined });
  const asked: { readonly audience: string | null; readonly authorization: string | undefined }[] = [];
  const issued: string[] = [];
  const url = await startLoopbackServer(async (request, response) => {
    const audience = new URL(request.url ?? '', 'http://host').searchParams.get('audience');
    asked.push({ audience, authorization: request.headers.authorization });
    const value = await issuer.sign({ aud: audience ?? '' });
    issued.push(value);
    response.end(JSON.stringify({ value }));
  });
  const github = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'the-token-of-the-job',
  };
  const workspace = makeWorkspace();
  workspace.write('event.json', '{"event":"built"}');
  await eventually(async () => (await hook.post(await issuer.sign({ aud: hook.url }))).status === 202);
  return { issuer, hook, asked, issued, github, workspace };
}

test('sends and reads with the token that the CI host issues to the job for the URL, and shows it nowhere', async () => {
  const { issuer, hook, asked, issued, github, workspace } = await start();
  const words = ['send', '--oidc', '--to', hook.url, '--payload', 'event.json'];
  const sent = await workspace.hookmill(...words, { env: github });
  expect(sent).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^202 Accepted\n/) });
  expect(asked).toEqual([{ audience: hook.url, authorization: 'Bearer the-token-of-the-job' }]);
  expect(issued).toHaveLength(1);
  expect(sent.stdout + sent.stderr).not.toContain(issued[0]);
  const other = await workspace.hookmill(...words, '--audience', 'other', { env: github });
  expect(other).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^401 /) });

  // Another CI host puts it in a variable.
  const token = await issuer.sign({ aud: hook.url });
  const byVariable = await workspace.hookmill(...words, { env: { HOOKMILL_ID_TOKEN: token } });
  expect(byVariable.stdout).toMatch(/^202 Accepted\n/);
  const named = await workspace.hookmill(...words, '--id-token-env', 'MINE', { env: { MINE: `${token}\n` } });
  expect(named.stdout).toMatch(/^202 Accepted\n/);
  expect(`${byVariable.stdout}${byVariable.stderr}${named.stdout}${named.stderr}`).not.toContain(token);

  // A daemon takes it instead of an API token.
  const server = hook.daemon.managementUrl;
  const shown = await workspace.hookmill('webhooks', 'list', '--server', server, { env: github });
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('hook') });
  expect(asked.at(-1)?.audience).toBe(server);
  expect(shown.stdout + shown.stderr).not.toContain(issued.at(-1));
  const without = await workspace.hookmill('webhooks', 'list', '--server', server);
  expect(without.stderr).toMatch(/requires an API token in HOOKMILL_TOKEN; a CI job can use a token/);
});

test.each([
  ['outside a CI job', {}, /this is no CI job with an OpenID Connect token/],
  [
    'without a token in the variable',
    { HOOKMILL_ID_TOKEN: 'not a token' },
    /HOOKMILL_ID_TOKEN does not hold a token/,
  ],
  [
    'while GitHub does not answer',
    { ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1:1/', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x' },
    /GitHub did not issue a token for this job/,
  ],
])('says what to do %s', async (_, env, message) => {
  const workspace = makeWorkspace();
  workspace.write('event.json', '{}');
  const to = 'http://127.0.0.1:1/webhooks/w/wh_x';
  const sent = await workspace.hookmill('send', '--oidc', '--to', to, '--payload', 'event.json', { env });
  expect(sent.exitCode).not.toBe(0);
  expect(sent.stderr).toMatch(message);
});

test('sends no token unencrypted', async () => {
  const workspace = makeWorkspace();
  workspace.write('event.json', '{}');
  const words = ['send', '--oidc', '--to', 'http://hooks.example.com/x', '--payload', 'event.json'];
  const sent = await workspace.hookmill(...words, { env: { HOOKMILL_ID_TOKEN: 'a.b.c' } });
  expect(sent.stderr).toMatch(/must not be sent unencrypted/);
});
