import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DefinitionFiles } from '../../../sources/definitions.ts';
import { readDirectory } from '../../../sources/directory-source.ts';
import { parseDefinitions } from '../../../sources/parse-definitions.ts';
import { readRevision } from '../../../sources/repository/repository-source.ts';
import { makeWorkspace } from '../../support/workspace.ts';

type Kind = 'file' | 'link' | 'folder' | 'submodule' | 'other';

const webhook = 'secretName: TOKEN\n';
const automation = (prompt: string) =>
  `${prompt}\ntriggers:\n  - provider: webhook\n    event: received\n    filter: { webhook_ids: [wh_0123456789abcdefghijklmn] }\n`;
const kinds: readonly Kind[] = ['file', 'link', 'folder', 'submodule', 'other'];

/** Verdicts by kind, in the order of `kinds`; `-` is not tried. */
const letters = { d: 'defined', s: 'silent', w: 'warning', e: 'error' } as const;

/** `%` is another name in each case. */
const amongDefinitions = {
  ...{ '%.yaml': 'deeee', 'con.yaml': 'weeee', '%.yaml.disabled': 'eeeee', '%.yaml ': 'eeeee' },
  ...{ '%.yml': 'eeeee', 'B%.yaml': 'eeeee', '%.json': 'eeeee', '%.off': 'eeeee', '%.bak': 'eeeee' },
  ...{ '%.txt': 'eeeee', '%.md': 'eeeee', '%': 'eeeee', '.%.yaml': 'eeeee', '.hidden': 'eeeee' },
  ...{ '.vscode': 'eesee', '.gitkeep': 'seeee', '.DS_Store': 'seeee', '%/b.yaml': 'eeeee' },
  ...{ '%.yaml~': 'sseee', '#%.yaml#': 'sseee', '.#%.yaml': 'sseee', '.%.yaml.swp': 'sseee' },
  '%.yaml___jb_tmp___': 'sseee',
};

/** Groups of places, each in a definitions directory of its own, with the verdict for each kind of entry there. */
const groups: readonly { readonly in: string; readonly names: Readonly<Record<string, string>> }[] = [
  { in: 'webhooks/', names: { ...amongDefinitions, 'a.fixtures': 'eeeee' } },
  { in: 'automations/', names: amongDefinitions },
  { in: 'automations/a.fixtures', names: { '': 'eesee' } },
  {
    in: 'automations/a.fixtures/',
    names: {
      ...{ '%.json': 'seeee', 'con.json': 'seeee', '%.yaml': 'eeeee', '.hidden': 'eeeee' },
      ...{ 'README.md': 'seeee', '.gitkeep': 'seeee', '%': 'eeeee' },
    },
  },
  { in: 'prompts', names: { '': 'ee-ee' } },
  { in: 'prompts/p.md', names: { '': 'seeee' } },
  {
    in: 'prompts/',
    names: { 'other.md': 'sssss', '.hidden': 'sssss', 'con.md': 'sssss', '%.yaml': 'sssss' },
  },
  { in: 'webhooks', names: { '': 'ee-ee' } },
  { in: 'automations', names: { '': 'ee-ee' } },
  { in: '', names: { '%.yaml': 'sssss', '.%.yaml': 'sssss', con: 'sssss', 'README.md': 'sssss' } },
  { in: 'Webhooks/', names: { 'b.yaml': 'e----' } },
  { in: 'webhook/', names: { 'b.yaml': 'w----' } },
  { in: '.webhooks/', names: { 'b.yaml': 'w----' } },
  { in: 'automation/', names: { 'b.yaml': 'w----' } },
];

interface Case {
  readonly path: string;
  readonly kind: Kind;
  readonly verdicts: Readonly<Record<string, string>>;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const cases = groups.flatMap(({ in: place, names }) =>
  kinds.flatMap((kind, column): Case[] => {
    const tried = Object.entries(names).filter(([, verdicts]) => verdicts[column] !== '-');
    const verdicts = tried.map(([name, byKind], index) => {
      const verdict = letters[byKind[column] as keyof typeof letters];
      return [place + name.replace('%', `b${index}`), verdict] as const;
    });
    const paths = verdicts.map(([path]) => path);
    if (paths.length === 0) return [];
    return [
      { path: place, kind, verdicts: Object.fromEntries(verdicts), files: listFiles(place, kind, paths) },
    ];
  }),
);

/** The files of a case: a definition besides it, which no case replaces, and what files in its places contain. */
function listFiles(place: string, kind: Kind, paths: readonly string[]): Case['files'] {
  const isPrompt = place.startsWith('prompts');
  const prompt = isPrompt ? 'promptFile: prompts/p.md' : 'prompt: Look.';
  const kept =
    place === 'automations'
      ? [{ path: 'webhooks/a.yaml', text: webhook }]
      : [{ path: 'automations/a.yaml', text: automation(prompt) }];
  if (place === 'prompts/') kept.push({ path: 'prompts/p.md', text: 'Look.' });
  if (kind === 'folder') return [...kept, ...paths.map(path => ({ path: `${path}/README.md`, text: 'x' }))];
  if (kind !== 'file') return kept;
  const text = (path: string) => {
    if (path.endsWith('.json')) return '{"payload": {}, "expect": []}';
    return place.toLowerCase().includes('webhook') ? webhook : automation(`prompt: Look at ${path}.`);
  };
  return [...kept, ...paths.map(path => ({ path, text: text(path) }))];
}

function makeDirectory({ kind, files, verdicts }: Case): string {
  const directory = mkdtempSync(join(tmpdir(), 'entries-'));
  const at = (path: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    return join(directory, path);
  };
  for (const { path, text } of files) writeFileSync(at(path), text);
  for (const path of Object.keys(verdicts)) {
    if (kind === 'link') symlinkSync('elsewhere', at(path));
    if (kind === 'submodule') mkdirSync(join(at(path), '.git'), { recursive: true });
  }
  if (kind === 'other') execFileSync('mkfifo', Object.keys(verdicts).map(at));
  return directory;
}

/** Makes a commit of each case. Git has no devices. */
function makeCommits(): { directory: string; revisions: ReadonlyMap<Case, string> } {
  const directory = mkdtempSync(join(tmpdir(), 'entries-'));
  const git = (input: string, ...words: string[]) =>
    execFileSync('git', words, { cwd: directory, input, encoding: 'utf8' });
  git('', 'init', '--quiet', '--bare');
  const inGit = cases.filter(({ kind }) => kind !== 'other');
  const stream = inGit.map(({ kind, files, verdicts }, index) => {
    const lines = files.map(({ path, text }) => `M 100644 inline "${path}"\n${data(text)}`);
    for (const path of Object.keys(verdicts)) {
      if (kind === 'link') lines.push(`M 120000 inline "${path}"\n${data('elsewhere')}`);
      if (kind === 'submodule') lines.push(`M 160000 ${'1'.repeat(40)} "${path}"\n`);
    }
    const head = `commit refs/heads/c${index}\ncommitter a <a@example.com> 0 +0000\n${data('a')}`;
    return head + lines.join('');
  });
  git(stream.join('\n'), 'fast-import', '--quiet');
  const refs = git('', 'for-each-ref', '--format=%(refname:lstrip=2) %(objectname)').trim().split('\n');
  const byName = new Map(refs.map(ref => ref.split(' ') as [string, string]));
  return { directory, revisions: new Map(inGit.map((one, index) => [one, byName.get(`c${index}`) ?? ''])) };
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** Everything that the verdict of a source consists of. */
function judge(found: DefinitionFiles) {
  const { webhooks, automations, diagnostics } = parseDefinitions(found);
  const files = found.files.map(({ file }) => file);
  return {
    files,
    definitions: [...webhooks, ...automations].map(({ name }) => name),
    diagnostics,
    asides: found.asides?.map(({ file }) => file).sort(),
    fixtures: found.fixtures?.map(({ file }) => file).sort(),
  };
}

/** The verdict on one entry: a mistake in a prompt is in the automation that names it. */
function findVerdict(path: string, { files, diagnostics }: ReturnType<typeof judge>): string {
  const about = diagnostics.filter(
    ({ file }) => path === file || path.startsWith(`${file}/`) || path.startsWith('prompts'),
  );
  const [worst] = about.toSorted((a, b) => (a.severity < b.severity ? -1 : 1));
  return worst?.severity ?? (files.includes(path) ? 'defined' : 'silent');
}

describe('entries of a definitions directory', () => {
  let commits: ReturnType<typeof makeCommits>;
  beforeAll(() => {
    commits = makeCommits();
  });

  test.for(cases.map((one, index) => [one.path, one.kind, index] as const))(
    'get the verdict of the table in a directory and in a commit: %s as %s',
    async ([, , index]) => {
      const one = cases[index] as Case;
      const inDirectory = judge(readDirectory(makeDirectory(one)));
      const verdicts = Object.keys(one.verdicts).map(path => [path, findVerdict(path, inDirectory)]);
      expect(Object.fromEntries(verdicts)).toEqual(one.verdicts);

      const revision = commits.revisions.get(one);
      if (revision === undefined) return expect(one.kind).toBe('other');
      const repository = { url: '', transport: 'file', branch: 'main', path: '' } as const;
      const environment = { ...process.env, GIT_DIR: commits.directory };
      const signal = new AbortController().signal;
      const mirror = { directory: commits.directory, repository, environment, signal };
      expect(judge(await readRevision(mirror, revision, '', false))).toEqual(inDirectory);
    },
  );
});

test('nothing is written or read through a link, by init, add and export', async () => {
  const workspace = makeWorkspace();
  const elsewhere = makeWorkspace();
  elsewhere.write('private.yaml', 'canary: 1\n');
  symlinkSync(elsewhere.directory, workspace.path('webhooks'));
  symlinkSync(elsewhere.directory, workspace.path('.github'));
  for (const words of [['init', '--ci', 'github'], ['add', 'github'], ['validate']]) {
    const { exitCode, stdout, stderr } = await workspace.hookmill(...words);
    expect({ words, exitCode, told: stdout + stderr }).toMatchObject({ words, exitCode: 1 });
    expect(stdout + stderr).not.toContain('canary');
  }
  expect(readdirSync(elsewhere.directory)).toEqual(['private.yaml']);
});
