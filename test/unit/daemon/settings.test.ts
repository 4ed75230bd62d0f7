import { expect, test } from 'vitest';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { settingsShape } from '../../../daemon/settings.ts';

function diagnosticsOf(text: string): string[] {
  const { diagnostics } = parseSettings('hookmill-daemon.yaml', Buffer.from(text));
  return diagnostics.map(({ code, message, range, hint = '' }) => {
    const { line, column } = range?.start ?? { line: 0, column: 0 };
    return `${line}:${column} [${code}] ${message} (${hint})`;
  });
}

test('an empty section of runs is the default: directories, 4 at a time, 3 attempts', () => {
  expect(parseSettings('f', Buffer.from('runs: {}')).definition).toEqual(settingsShape.parse({}));
  expect(settingsShape.parse({}).runs).toEqual({
    runner: { kind: 'directory' },
    concurrency: 4,
    attempts: 3,
    backOff: { firstSeconds: 10, maxSeconds: 600 },
    runnerWaitSeconds: 3_600,
    runners: {},
  });
});

test('limits of single webhooks are named by the webhook, or by its factory too', () => {
  const limits = '{deliveriesPerMinute: 600}';
  const text = `webhooks: {github: ${limits}, shop/github: ${limits}}`;
  expect(parseSettings('f', Buffer.from(text)).definition?.webhooks).toEqual({
    github: { deliveriesPerMinute: 600 },
    'shop/github': { deliveriesPerMinute: 600 },
  });
  expect(diagnosticsOf(`webhooks: {a/b/c: ${limits}}`)).toEqual([
    '1:12 [definition/value] "a/b/c" does not name a webhook (write NAME or FACTORY/NAME)',
  ]);
});

test('reads each kind of runner', () => {
  const command =
    '{kind: command, argv: [/usr/bin/agent, --once], environment: [TOKEN], timeLimitSeconds: 60}';
  expect(parseSettings('f', Buffer.from(`runs: {runner: ${command}}`)).definition?.runs.runner).toEqual({
    kind: 'command',
    argv: ['/usr/bin/agent', '--once'],
    environment: ['TOKEN'],
    timeLimitSeconds: 60,
    keep: false,
    outputBytes: 1_048_576,
  });
  const http = '{kind: http, url: "https://agents.example/runs", tokenFromEnvironment: TOKEN}';
  expect(parseSettings('f', Buffer.from(`runs: {runner: ${http}}`)).definition?.runs.runner).toEqual({
    kind: 'http',
    url: 'https://agents.example/runs',
    tokenFromEnvironment: 'TOKEN',
    timeLimitSeconds: 30,
    outputBytes: 1_048_576,
  });
});

test.each([
  ['{kind: comand, argv: [a]}', /^1:23 .* kind cannot be "comand" \(did you mean command\?\)$/],
  ['{kind: command}', /^1:8 .* the key "argv" is missing \(add argv:/],
  ['{kind: command, argv: []}', /^1:38 \[definition\/value\] argv must start with a program: .* \(/],
  ['{kind: command, argv: [./agent]}', /^1:38 \[definition\/value\] argv must start with a program: .* \(/],
  [
    '{kind: command, argv: [a], environment: [HOOKMILL_KEY]}',
    /^1:57 .* not a variable name that can be passed to the command \(.*never passed on\)$/,
  ],
  ['{kind: command, argv: [a], group: staff}', /^1:50 .* group needs user \(name the user/],
  ['{kind: command, argv: [a], processes: 5}', /^1:54 .* processes needs user \(name the user/],
  ['{kind: command, argv: [a], callback: {}}', /^1:43 .* unknown key "callback" \(it needs kind: http\)$/],
  ['{kind: directory, timeLimitSeconds: 1}', /^1:34 .* \(it needs kind: command or kind: http\)$/],
  [
    '{kind: http, url: "http://x", shell: a}',
    /^1:46 .* \(known keys: kind, url, secretUrl, tokenFromEnvironment, /,
  ],
  ['{kind: http, url: "ftp://x.example"}', /^1:34 .* not a valid URL of a receiver \(use http/],
  ['{kind: http, url: "https://u:p@x.example"}', /^1:34 .* not a valid URL of a receiver \(use http/],
  [
    '{kind: http, url: "https://x.example", tokenFromEnvironment: "a token"}',
    /^1:77 .* not a valid environment variable name \(/,
  ],
  ['{kind: http}', /^1:8 .* the key "url" is missing \(add url, or secretUrl/],
  ['{kind: http, url: "https://x", secretUrl: A}', /^1:47 .* give either url or secretUrl \(/],
  ['{kind: http, url: "https://{run}.example"}', /^1:34 .* only the path and the query can contain {run} /],
  ['{kind: http, url: "https://x/{payload.id}"}', /^1:34 .* only {run} can be in a URL /],
  ['{kind: http, url: "https://x", body: form}', /^1:53 .* body cannot be "form" /],
  ['{kind: http, url: "https://x", body: json, template: {}}', /^1:47 .* give either body or template /],
  ['{kind: http, url: "https://x", headers: {"a b": c}}', /^1:57 .* not a valid name of a header /],
  ['{kind: http, url: "https://x", headers: {Hookmill-Run-Id: c}}', /^1:57 .* is set by hookmill itself /],
  ['{kind: http, url: "https://x", headers: {content-type: c}}', /^1:57 .* is set by hookmill itself /],
  ['{kind: http, url: "https://x", headers: {A: "b\\r\\nC: d"}}', /^1:60 .* not a valid value of a header /],
  ['{kind: http, url: "https://x", headers: {A: "€"}}', /^1:60 .* not a valid value of a header /],
  [
    '{kind: http, url: "https://x", headers: {Authorization: "Bearer t"}}',
    /^1:57 .* Authorization carries a credential \(.*secretHeaders\)$/,
  ],
  [
    '{kind: http, url: "https://x", headers: {X-A: b}, secretHeaders: {x-a: B}}',
    /^1:82 .* the header x-a is set twice /,
  ],
  [
    '{kind: http, url: "https://x", tokenFromEnvironment: A, secretHeaders: {authorization: B}}',
    /^1:88 .* the header authorization is set twice /,
  ],
  [
    '{kind: http, url: "https://x", headers: {X-A: b}, idempotencyHeader: x-a}',
    /^1:85 .* the header x-a is set twice /,
  ],
  [
    '{kind: http, url: "https://x", secretHeaders: {Authorization: "Bearer secret-value"}}',
    /^1:78 (?!.*secret-value).* not a valid name for a team secret /,
  ],
  [
    '{kind: http, url: "https://x", secretHeaders: {A: {secretName: B, prefix: "c\\n"}}}',
    /^1:90 .* not a valid beginning of the value of a header/,
  ],
  [
    '{kind: http, url: "https://x", expectedStatuses: [302]}',
    /^1:66 .* a success can be 200–299, or 400–499/,
  ],
  [
    '{kind: http, url: "https://x", expectedStatuses: [429]}',
    /^1:66 .* a success can be 200–299, or 400–499/,
  ],
  ['{kind: http, url: "https://x", responseLink: html_url}', /^1:61 .* \(did you mean \$\.html_url\?\)$/],
  ['{kind: http, url: "https://x", template: [a]}', /^1:57 \[definition\/type\] .*template/],
])('says where %s is wrong, and what to write', (runner, expected) => {
  expect(diagnosticsOf(`runs: {runner: ${runner}}`)).toEqual([expect.stringMatching(expected)]);
});

test.each([
  ['{deploy: {kind: command, argv: [a], facories: [b]}}', /^1:53 .*did you mean factories\?/],
  ['{deploy: {kind: command, argv: [a], user: b}}', /^1:59 .*user needs runs\.directory/],
  ['{default: {kind: directory}}', /^1:18 .*default is the name of runs\.runner/],
  ['{Deploy: {kind: directory}}', /^1:18 .*"Deploy" is not a valid name \(use 1–63 lowercase/],
  ['{deploy: {kind: directory, factories: [A]}}', /^1:56 .*\* stands for any text/],
  [
    '{a: {kind: command, argv: [a], secretEnvironment: {HOOKMILL_KEY: B}}}',
    /^1:68 .*not a variable name that can be passed/,
  ],
  [
    '{a: {kind: command, argv: [a], workspace: {ref: $.a}}}',
    /^1:48 .*the key "repository" is missing \(add repository, or repositories/,
  ],
  [
    '{a: {kind: command, argv: [a], workspace: {ref: $.a, repository: /r, repositories: {b: {repository: /r}}}}}',
    /^1:86 .*give either repository or repositories/,
  ],
])('says where runners: %s is wrong', (runners, expected) => {
  expect(diagnosticsOf(`runs: {runners: ${runners}}`)).toEqual([expect.stringMatching(expected)]);
});

test('a factory follows main of its repository every 30 s, unless told otherwise', () => {
  const text = 'repositories: [{factory: pay, repository: "https://git.example/hooks.git"}]';
  expect(parseSettings('f', Buffer.from(text)).definition?.repositories).toEqual([
    {
      factory: 'pay',
      repository: 'https://git.example/hooks.git',
      branch: 'main',
      path: '.',
      interval: '30s',
      credentialUsername: 'x-access-token',
    },
  ]);
});

test.each([
  [
    '[{factory: a, repository: /r}, {factory: a, repository: /s}]',
    'the factory a already follows another repository',
  ],
  ['[{repository: /r, branch: "a..b"}]', '1:41 invalid branch name (write the name of a branch'],
  ['[{repository: "https://u:p@host/r"}]', '1:29 the URL contains a credential (store it as a team secret'],
  ['[{repository: /r, interval: soon}]', '1:43 invalid interval "soon" (write a time'],
  ['[{repository: /r, credentialSecret: S}]', '1:51 credentials are sent only over HTTPS (remove it'],
  ['[{repository: /r, trigger: a/b/c}]', "write a webhook's name"],
])('says where repositories: %s is wrong', (repositories, expected) => {
  const [found] = diagnosticsOf(`repositories: ${repositories}`);
  expect(found?.replace('[definition/value] ', '')).toContain(expected);
});

test('sign-in needs https to the provider and to the dashboard, one client secret and a group', () => {
  const signIn = (given: string) =>
    `signIn: {clientId: h, grants: [{group: g, permission: read}], ${given}}\n`;
  const issuer = 'issuer: "https://login.example"';
  const here = 'managementUrl: https://hooks.example\n';
  expect(diagnosticsOf(here + signIn(issuer))).toEqual([]);
  expect(
    diagnosticsOf(`managementUrl: http://127.0.0.1:9\n${signIn('issuer: "http://localhost:1"')}`),
  ).toEqual([]);
  for (const url of ['', 'managementUrl: http://hooks.example\n']) {
    expect(diagnosticsOf(url + signIn(issuer)).join()).toContain('signIn needs a managementUrl with https');
  }
  const insecure = diagnosticsOf(here + signIn('issuer: "http://login.example"'));
  expect(insecure.join()).toContain('the issuer must use https');
  const both = `${issuer}, clientSecret: A, clientSecretFromEnvironment: B`;
  expect(diagnosticsOf(here + signIn(both)).join()).toContain('give either clientSecret or');
  expect(diagnosticsOf(`${here}signIn: {clientId: h, grants: [], ${issuer}}`)).toHaveLength(1);
});
