import { expect, test } from 'vitest';
import { parseRepository } from '../../../../sources/repository/repository.ts';

const problemOf = (url: string, branch = 'main', path = '.') => {
  const parsed = parseRepository(url, branch, path);
  return 'mistake' in parsed ? parsed.mistake : undefined;
};

test.each([
  ['https://github.com/acme/hooks.git', 'https'],
  ['http://127.0.0.1:3000/acme/hooks', 'http'],
  ['http://localhost/hooks', 'http'],
  ['ssh://git@github.com:22/acme/hooks.git', 'ssh'],
  ['git@github.com:acme/hooks.git', 'ssh'],
  ['build-host:hooks.git', 'ssh'],
  ['git://example.com/hooks.git', 'git'],
  ['file:///srv/git/hooks.git', 'file'],
  ['/srv/git/hooks.git', 'file'],
])('takes %s for %s', (url, transport) => {
  expect(parseRepository(url, 'main', '.')).toEqual({
    repository: { url, transport, branch: 'main', path: '' },
  });
});

test.each([
  '',
  '-u/tmp/x',
  '--upload-pack=touch /tmp/x',
  'ext::sh -c touch% /tmp/x',
  'fd::17',
  'ext::sh',
  'https::https://example.com/x',
  'ftp://example.com/x',
  'rsync://example.com/x',
  'https://example.com',
  'https:///x',
  'ssh://-oProxyCommand=touch/x',
  'ssh://git@-oProxyCommand=x/y',
  '-oProxyCommand=x:y',
  'git@-oProxyCommand=x:y',
  'git@host:-x',
  'git@host::x',
  'file://host/x',
  'relative/path',
  '../hooks.git',
  'https://example.com/a b',
  'https://example.com/a\nb',
  '/srv/\x1b[31m',
  'http://example.com/hooks',
])('refuses %j', url => {
  expect(problemOf(url)).toMatchObject({ option: 'repository' });
});

test.each([
  'https://ada:hunter2@example.com/x',
  'https://ghp_hunter2@example.com/x',
  'ssh://ada:hunter2@example.com/x',
])('refuses the credential in %s without repeating it', url => {
  const problem = problemOf(url);
  expect(problem).toMatchObject({ option: 'repository', message: 'the URL contains a credential' });
  expect(JSON.stringify(problem)).not.toContain('hunter2');
});

test.each(['main', 'release/2026-11', 'a.b', 'feature/@x', 'grün'])('takes the branch %s', branch => {
  expect(problemOf('/r', branch)).toBeUndefined();
});

test.each([
  '',
  '-x',
  '--upload-pack=x',
  '@',
  'HEAD',
  'a..b',
  'a b',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[b',
  'a\\b',
  'a@{1}',
  '/a',
  'a/',
  'a//b',
  '.a',
  'a/.b',
  'a.lock',
  'a.',
  'a\x1bb',
])('refuses the branch %j', branch => {
  expect(problemOf('/r', branch)).toMatchObject({ option: 'branch' });
});

test.each([
  ['.', ''],
  ['', ''],
  ['./', ''],
  ['deploy', 'deploy'],
  ['./deploy/hookmill/', 'deploy/hookmill'],
])('takes the path %j as %j', (path, normal) => {
  expect(parseRepository('/r', 'main', path)).toMatchObject({ repository: { path: normal } });
});

test.each(['..', 'a/../../b', '/etc', ':(top)x', 'a\0b', 'a\nb'])('refuses the path %j', path => {
  expect(problemOf('/r', 'main', path)).toMatchObject({ option: 'path' });
});
