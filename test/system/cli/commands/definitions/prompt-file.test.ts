import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { promptBytesMax } from '../../../../../schema/definitions/automation-definition.ts';
import { temporaryDirectory } from '../../../../support/git-samples.ts';
import { openFactory, startManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const trigger =
  'triggers:\n  - { provider: webhook, event: received, filter: { webhook: hook, payload: { a: [1] } } }\n';
const automation = (path: string) => `# The prompt is elsewhere.\npromptFile: ${path}\n${trigger}`;

/** A webhook, and an automation whose prompt is in prompts/triage.md, both applied. */
async function appliedWorkspace(onServer: boolean) {
  const workspace = makeWorkspace();
  const env = onServer ? (await openFactory(await startManagedDaemon())).env : { home: {}, server: {} };
  const hookmill = (...words: string[]) => workspace.hookmill(...words, { env: env.server });
  await workspace.hookmill('secrets', 'generate', 'HOOK', { env: env.home });
  workspace.write('webhooks/hook.yaml', 'secretName: HOOK\n');
  workspace.write('automations/triage.yaml', automation('prompts/triage.md'));
  workspace.write('prompts/triage.md', 'Look.\nSay why.\n');
  expect(await hookmill('apply')).toMatchObject({ exitCode: 0 });
  const showPrompt = async () =>
    JSON.parse((await hookmill('automations', 'show', 'triage', '-o', 'json')).stdout).prompt;
  return { workspace, hookmill, showPrompt };
}

test('a prompt of its own file is applied, planned and moved like any other, on a server', async () => {
  const { workspace, hookmill, showPrompt } = await appliedWorkspace(true);
  expect(await showPrompt()).toBe('Look.\nSay why.\n');
  expect((await hookmill('plan')).stdout).toContain('No changes.');

  workspace.write('prompts/triage.md', 'Look.\nSay why not.\n');
  const { stdout } = await hookmill('plan');
  expect(stdout).toMatch(/~ automation triage\n {4}~ prompt:/);
  expect(stdout).toMatch(/- Say why\.\n.*\+ Say why not\./);
  await hookmill('apply');
  expect(await showPrompt()).toBe('Look.\nSay why not.\n');

  const inline = `prompt: |\n  Look.\n  Say why not.\n${trigger}`;
  workspace.write('automations/triage.yaml', inline);
  workspace.remove('prompts/triage.md');
  expect((await hookmill('plan')).stdout).toContain('No changes.');
});

test('a prompt file with a mistake is reported where it is named, and nothing is applied', async () => {
  const { workspace, hookmill, showPrompt } = await appliedWorkspace(false);
  workspace.remove('prompts/triage.md');
  symlinkSync('/etc/hostname', workspace.path('prompts/triage.md'));
  const planned = await hookmill('plan');
  expect(planned).toMatchObject({ exitCode: 1, stdout: 'No changes by the definitions without errors.\n' });
  const place = 'automations/triage.yaml:2:13: error: prompts/triage.md';
  expect(planned.stderr).toContain(`${place} is not a regular file, or is behind a link`);
  expect(planned.stderr.match(/automation\/prompt-file/g)).toHaveLength(1);
  const applied = await hookmill('apply');
  expect(applied).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(place) });
  expect(await showPrompt()).toBe('Look.\nSay why.\n');
});

const messages: readonly (readonly [string, (workspace: Workspace) => void, string])[] = [
  ['a missing file', ({ remove }) => remove('prompts'), 'there is no file prompts/p.md'],
  ['a folder', ({ path }) => mkdirSync(path('prompts/p.md')), 'prompts/p.md is not a regular file'],
  ['an empty file', ({ write }) => write('prompts/p.md', ' \n'), 'prompts/p.md is empty'],
  [
    'a large file',
    ({ write }) => write('prompts/p.md', 'x'.repeat(promptBytesMax + 1)),
    'prompts/p.md is larger than 32 KiB',
  ],
  [
    'a file in Latin-1',
    ({ write }) => write('prompts/p.md', Buffer.from('gr\xfcn', 'latin1')),
    'prompts/p.md: the file is not valid UTF-8',
  ],
  [
    'a control character',
    ({ write }) => write('prompts/p.md', 'Look.\x1b[2J\n'),
    'prompts/p.md: the control character U+001B is not allowed',
  ],
];

test.for(messages)('%s is an error with a remedy', async ([_, prepare, message]) => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/hook.yaml', 'secretName: HOOK\n');
  workspace.write('automations/triage.yaml', automation('prompts/p.md'));
  workspace.write('prompts/other.md', 'Look.\n');
  prepare(workspace);
  const { stdout, exitCode } = await workspace.hookmill('validate');
  expect(stdout).toContain(`automations/triage.yaml:2:13: error: ${message}`);
  expect(stdout).toContain('[automation/prompt-file]');
  expect(stdout).toContain('\n  hint: ');
  expect(exitCode).toBe(1);
});

test('nothing outside of the definitions directory is read, on no way', async () => {
  const { write, path, hookmill } = makeWorkspace();
  const outside = temporaryDirectory();
  execFileSync('sh', ['-c', 'echo Stolen. > p.md'], { cwd: outside });
  symlinkSync(outside, path('linked'));
  write('webhooks/hook.yaml', 'secretName: HOOK\n');
  write('.hookmill/runs/p.md', 'Stolen.');
  write('automations/p.md', 'Stolen.');
  const paths = ['linked/p.md', join(outside, 'p.md'), '../p.md', 'a/../../p.md', './p.md'];
  paths.push('.hookmill/runs/p.md', 'automations/p.md', 'webhooks/hook.yaml', '-p.md', 'a//p.md', 'a\\p.md');
  for (const named of paths) {
    write('automations/triage.yaml', automation(`'${named}'`));
    const { stdout } = await hookmill('validate', '-o', 'json');
    const errors = JSON.parse(stdout).diagnostics.filter(
      ({ severity }: { severity: string }) => severity === 'error',
    );
    expect(errors, named).toMatchObject([{ code: 'automation/prompt-file', range: { start: { line: 2 } } }]);
  }
});

test('a single file is validated with its prompt file', async () => {
  const { workspace } = await appliedWorkspace(false);
  const file = workspace.path('automations/triage.yaml');
  expect(await workspace.hookmill('validate', file)).toMatchObject({ exitCode: 0 });
  expect(await workspace.hookmill('validate', 'automations/triage.yaml')).toMatchObject({ exitCode: 0 });
  workspace.write('prompts/triage.md', 'Read payload.json.\n');
  const { stdout } = await workspace.hookmill('validate', 'automations/triage.yaml');
  expect(stdout).toContain('automations/triage.yaml:2:13: warning: a run gets no file payload.json');
});

test('automations with the same prompt file and triggers are duplicates, and so is one with the same text', async () => {
  const { workspace } = await appliedWorkspace(false);
  workspace.write('automations/again.yaml', automation('prompts/triage.md'));
  workspace.write('automations/inline.yaml', `prompt: "Look.\\nSay why.\\n"\n${trigger}`);
  const { stdout } = await workspace.hookmill('validate');
  expect(stdout).toContain('automations/inline.yaml:1:9: warning: duplicate of the automation again');
  expect(stdout).toContain('automations/triage.yaml:2:13: warning: duplicate of the automation again');
});

test('--changed-since reports an automation whose prompt file changed', async () => {
  const { workspace } = await appliedWorkspace(false);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: workspace.directory });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'base');
  workspace.remove('prompts/triage.md');
  const { stdout, exitCode } = await workspace.hookmill('validate', '--changed-since', 'HEAD');
  expect(stdout).toContain('there is no file prompts/triage.md');
  expect(exitCode).toBe(1);
});

test('a reviewed plan is out of date when the prompt file has another text', async () => {
  const { workspace, hookmill } = await appliedWorkspace(false);
  workspace.write('prompts/triage.md', 'Look again.\n');
  await hookmill('plan', '--out', 'reviewed.plan');
  workspace.write('prompts/triage.md', 'Look away.\n');
  const { stderr, exitCode } = await hookmill('apply', 'reviewed.plan');
  expect(stderr).toContain('The plan is out of date (the automation triage changed)');
  expect(exitCode).toBe(1);
});

test('a definition that is not applied is tested with its prompt file', async () => {
  const { workspace, hookmill } = await appliedWorkspace(false);
  workspace.write('automations/second.yaml', automation('prompts/second.txt'));
  workspace.write('event.json', '{"a":1}');
  const words = ['automations', 'test', 'second', '--payload', 'event.json'];
  const missing = await hookmill(...words);
  expect(missing).toMatchObject({ exitCode: 1 });
  expect(missing.stdout + missing.stderr).toContain('there is no file prompts/second.txt');
  workspace.write('prompts/second.txt', 'Look.\r\n');
  expect(await hookmill(...words)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Would trigger'),
  });
});
