// Opens a draft pull request with the patch that an agent left: node open-pull-request.mjs OWNER/REPOSITORY BASE-BRANCH
//   change.patch: what `git diff` prints        pull-request.json: {"title": "…", "body": "…"}
// The branch is hookmill/<run id>, by which a repeated attempt finds what it did. Needs git 2.32 or newer.
// Interface: https://docs.github.com/en/rest/pulls/pulls
import { spawnSync } from 'node:child_process';
import {
  argument,
  callGitHub,
  checkLength,
  endWithout,
  fail,
  neutralise,
  readObject,
  readText,
  variable,
  writeResult,
} from './safe-output.mjs';

const filesMax = 10;
const patchBytesMax = 200_000;
/** Files that decide what CI runs, who must review, what a reviewer sees, or which other repositories belong to this one. */
const guarded = [
  /^\.(github|gitlab|gitea|forgejo|circleci|buildkite|azure-pipelines|woodpecker|semaphore|teamcity)\//i,
  /(^|\/)(azure-pipelines|jenkinsfile)[^/]*$/i,
  /(^|\/)\.?(gitlab-ci|bitbucket-pipelines|travis|drone|woodpecker|appveyor|cirrus|cloudbuild|buildspec)[^/]*$/i,
  /(^|\/)(codeowners|\.gitmodules|\.gitattributes)$/i,
];

const author = { name: 'hookmill', email: 'hookmill@localhost' };
const usage = 'open-pull-request.mjs OWNER/REPOSITORY BASE-BRANCH';
const repository = argument(0, /^[\w.-]+\/[\w.-]+$/, usage);
const base = argument(1, /^[\w][\w./-]*$/, usage);
const branch = `hookmill/${variable('HOOKMILL_RUN_ID')}`;
const server = process.env.GITHUB_SERVER_URL || 'https://github.com';
// Otherwise, one server would get the token of another.
if (!process.env.GITHUB_API_URL !== !process.env.GITHUB_SERVER_URL)
  fail('Set both GITHUB_API_URL and GITHUB_SERVER_URL, or none');
const remote = `${server}/${repository}.git`;

endWithout('change.patch');
const { title, body } = readObject('pull-request.json', { title: 'string', body: 'string' });
checkLength('The title', title, 200);
if (/\p{Cc}/u.test(title)) fail('The title must be one line');
checkLength('The body', body, 10_000);
const patch = readText('change.patch', patchBytesMax);
checkLength('change.patch', patch, patchBytesMax);
// Without these, a patch has only lines of text, whatever the attributes of the repository say about its files.
if (patch.includes('\0') || /^GIT binary patch$/m.test(patch))
  fail('change.patch must not contain binary files');

const pulls = `/repos/${repository}/pulls`;
const head = encodeURIComponent(`${repository.split('/')[0]}:${branch}`);
const found = (await callGitHub('GET', `${pulls}?state=all&head=${head}`)).find(
  pull => pull.head.ref === branch,
);
if (!found && git(['ls-remote', remote, `refs/heads/${branch}`], { asBot: true }) === '') pushChange();
const text = `${neutralise(body)}\n\nProposed by ${variable('HOOKMILL_RUN_ID')} of hookmill.`;
const asked = { title: neutralise(title), body: text, head: branch, base, draft: true };
const { html_url } = found ?? (await callGitHub('POST', pulls, asked));
writeResult('Opened a draft pull request', html_url);

/** Works on the index only. No file of the repository is checked out, so none of its links, filters and hooks matter. */
function pushChange() {
  const options = ['--quiet', '--depth=1', '--no-checkout', '--no-tags', '--template=', `--branch=${base}`];
  git(['clone', ...options, remote, 'clone'], { asBot: true });
  const cwd = 'clone';
  git(['read-tree', 'HEAD'], { cwd });
  git(['apply', '--cached', '--whitespace=nowarn'], { cwd, input: patch });
  check(git(['diff-index', '--cached', '--raw', '-z', '--no-renames', 'HEAD'], { cwd }));
  const tree = git(['write-tree'], { cwd });
  const message = `${neutralise(title)}\n\nProposed by ${variable('HOOKMILL_RUN_ID')} of hookmill.\n`;
  const commit = git(['commit-tree', tree, '-p', 'HEAD'], { cwd, input: message });
  git(['push', '--quiet', remote, `${commit}:refs/heads/${branch}`], { cwd, asBot: true });
}

/** Checks what git says is changed. The format: https://git-scm.com/docs/git-diff-index#_raw_output_format */
function check(raw) {
  const fields = raw.split('\0').slice(0, -1);
  const count = fields.length / 2;
  if (count === 0) fail('change.patch changes nothing');
  if (count > filesMax) fail(`change.patch changes ${count} files; at most ${filesMax} are allowed`);
  for (let index = 0; index < fields.length; index += 2) {
    const [modes, path] = fields.slice(index);
    const [before, after] = modes.slice(1).split(' ');
    const name = JSON.stringify(path);
    if (guarded.some(pattern => pattern.test(path))) fail(`change.patch must not change ${name}`);
    const isPlain = [before, after].every(mode => ['000000', '100644', '100755'].includes(mode));
    if (!isPlain) fail(`${name} must be an ordinary file, not a link or a submodule`);
    if (after === '100755' && before !== '100755') fail(`change.patch must not make ${name} executable`);
  }
}

/** Runs git without settings of the machine, and returns what it prints. Only `asBot` does it have the token, in a variable. */
function git(args, { cwd, input = '', asBot = false }) {
  const { GH_TOKEN, ...environment } = process.env;
  const credential = Buffer.from(`x-access-token:${GH_TOKEN}`).toString('base64');
  const settings = {
    'core.hooksPath': '/dev/null',
    'core.protectHFS': 'true',
    'core.protectNTFS': 'true',
    'http.followRedirects': 'false',
    ...(asBot && { [`http.${server}/.extraHeader`]: `Authorization: Basic ${credential}` }),
  };
  const env = {
    ...environment,
    GIT_ALLOW_PROTOCOL: 'https:http',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  for (const [index, [key, value]] of Object.entries(settings).entries())
    Object.assign(env, { [`GIT_CONFIG_KEY_${index}`]: key, [`GIT_CONFIG_VALUE_${index}`]: value });
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd, env, input, encoding: 'utf8' });
  if (status === 0) return stdout.replace(/\n$/, '');
  const [line] = (error?.message ?? stderr).trim().split('\n');
  return fail(`git ${args[0]} failed: ${line}`);
}
