import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { definitionFolders } from '../../definitions.ts';
import { GitFailure, runGit } from './git-command.ts';
import { makeGitEnvironment } from './git-environment.ts';
import { formatObjects, type GitMirror } from './git-mirror.ts';
import { countBetween } from './git-objects.ts';

/** A work tree of git, with the commit that is checked out in it. */
export interface WorkTree {
  /** A temporary repository with the objects and the index of the user's one. It keeps everything that is written. */
  readonly mirror: GitMirror;
  /** The commit that is checked out, and its tree. */
  readonly head: string;
  readonly headTree: string;
  /** The full name of the ref that is checked out; `HEAD` if it is none. */
  readonly headRef: string;
  /** The path of the directory in the repository. */
  readonly prefix: string;
  /** The commits of the remote-tracking refs of the branch, then those of the local ones. */
  readonly branchTips: readonly (readonly string[])[];
}

/** A branch, and the path of the definitions in it. */
interface BranchPlace {
  readonly branch: string;
  /** `''` for the root. */
  readonly path: string;
}

/**
 * Opens the work tree that a directory is in, to merge it into a branch. Git reads the repository's own configuration
 * only to look up names: everything else runs in a temporary repository with a configuration of ours, so no filter,
 * hook, merge driver or fsmonitor of the user's repository runs, nothing is fetched, and nothing is written to it.
 * Fails with a `GitFailure`.
 */
export async function useWorkTree<T>(
  directory: string,
  place: BranchPlace,
  ambient: NodeJS.ProcessEnv,
  work: (tree: WorkTree) => Promise<T>,
): Promise<T> {
  const temporary = await mkdtemp(join(tmpdir(), 'hookmill-merge-'));
  try {
    return await work(await openWorkTree(directory, place, ambient, temporary));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function openWorkTree(
  directory: string,
  { branch, path }: BranchPlace,
  ambient: NodeJS.ProcessEnv,
  temporary: string,
): Promise<WorkTree> {
  const environment = makeGitEnvironment(ambient, temporary, 'none', undefined);
  const { signal } = new AbortController();
  const repository = { url: directory, transport: 'file' as const, branch, path };
  // Git finds the user's repository from the directory.
  const { GIT_DIR: _, ...theirs } = environment;
  const user = { directory, environment: theirs, repository, signal };
  const names = ['index', 'objects', 'shallow', 'info/exclude', 'info/attributes'].flatMap(name => [
    '--git-path',
    name,
  ]);
  const local = `refs/heads/${branch}`;
  const [output, kept, refs] = await Promise.all([
    run(user, [
      ...['rev-parse', '--path-format=absolute', '--show-toplevel', ...names],
      ...['--show-prefix', 'HEAD', 'HEAD^{tree}', '--symbolic-full-name', 'HEAD'],
    ]),
    run(user, ['config', '--null', '--get-regexp', keptSettings], { exitCodes: [1] }),
    run(user, ['for-each-ref', '--format=%(objectname) %(refname)', `refs/remotes/*/${branch}`, local]),
  ]);
  const [
    root = '',
    index = '',
    objects = '',
    shallow = '',
    exclude = '',
    attributes = '',
    prefix = '',
    head = '',
    headTree = '',
    headRef = '',
  ] = output.split('\n');
  const configuration = `${formatConfiguration(root, kept)}${formatObjects(head)}`;
  await makeRepository(temporary, { index, objects, shallow, exclude, attributes }, configuration);
  const own = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return {
    mirror: {
      directory: temporary,
      repository: { ...repository, url: root },
      environment: { ...environment, ...own },
      signal,
    },
    ...{ head, headTree, headRef, prefix: prefix.replace(/\/$/, '') },
    branchTips: [false, true].map(isLocal =>
      refs
        .split('\n')
        .map(line => line.split(' '))
        .flatMap(([tip = '', ref]) => (tip !== '' && (ref === local) === isLocal ? [tip] : [])),
    ),
  };
}

/** Settings of the user that say which files git sees. */
const keptSettings = '^core\\.(autocrlf|eol|excludesfile|ignorecase|precomposeunicode)$';

interface UserFiles {
  readonly index: string;
  readonly objects: string;
  readonly shallow: string;
  readonly exclude: string;
  readonly attributes: string;
}

async function makeRepository(temporary: string, user: UserFiles, configuration: string): Promise<void> {
  for (const part of ['objects/info', 'refs', 'info'])
    await mkdir(join(temporary, part), { recursive: true });
  const copies: [from: string, to: string][] = [
    [user.index, 'index'],
    [user.shallow, 'shallow'],
    [user.exclude, 'info/exclude'],
    [user.attributes, 'info/attributes'],
  ];
  // A split index is a small file beside a large one.
  for (const name of await readdir(dirname(user.index)))
    if (name.startsWith('sharedindex.')) copies.push([join(dirname(user.index), name), name]);
  for (const [from, to] of copies) await copyFile(from, join(temporary, to)).catch(ignoreMissing);
  await writeFile(join(temporary, 'objects/info/alternates'), `${user.objects}\n`);
  await writeFile(join(temporary, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(temporary, 'config'), configuration);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** A file mode never matters for a definition, and some file systems have none. */
function formatConfiguration(root: string, kept: string): string {
  const settings = kept.split('\0').filter(one => one !== '');
  const lines = settings.map(one => {
    const [key = '', ...value] = one.split('\n');
    return `\t${key.slice('core.'.length)} = ${quote(value.join('\n'))}\n`;
  });
  return `[core]
	repositoryFormatVersion = 0
	bare = false
	worktree = ${quote(root)}
	hooksPath = /dev/null
	fsmonitor = false
	fileMode = false
${lines.join('')}[user]
	name = hookmill
	email = hookmill@localhost
`;
}

function quote(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Finds the merge base of two commits; undefined if the repository does not have it, or lacks one of them. */
export async function findMergeBase(
  { mirror }: WorkTree,
  one: string,
  other: string,
): Promise<string | undefined> {
  const output = await run(mirror, ['merge-base', one, other], { exitCodes: [1, 128] });
  return output.trim() || undefined;
}

/**
 * Finds the newest commit of the branch: of a remote-tracking ref, otherwise of a local one, that equals the applied
 * revision or descends from it; without one, the applied revision itself, which the repository must have. If nothing is
 * applied, any ref of the branch is enough.
 */
export async function findTip(
  { mirror, branchTips }: WorkTree,
  applied: string | undefined,
): Promise<string | undefined> {
  if (applied === undefined) return branchTips.flat()[0];
  for (const tips of branchTips) {
    const counted = await Promise.all(
      tips.map(async tip => ({ tip, count: tip === applied ? 0 : await countBetween(mirror, applied, tip) })),
    );
    const [newest] = counted
      .filter(({ tip, count }) => tip === applied || count > 0)
      .sort((a, b) => b.count - a.count);
    if (newest) return newest.tip;
  }
  return applied;
}

/** Lists the files of the definitions folders that commits after `base` up to HEAD changed, as `listIgnored` does. */
export async function listChanged(tree: WorkTree, base: string): Promise<string[]> {
  const { mirror, head } = tree;
  const log = ['log', '-m', '--format=', '--name-only', '--no-renames', '-z', `${base}..${head}`, '--'];
  return toOwnPaths(tree, await run(mirror, [...log, ...listFolders(mirror.repository.path)]));
}

/**
 * Makes a commit of HEAD with the changes of the work tree that definitions can depend on, whether they are staged,
 * uncommitted or untracked, and returns its name; without any, returns HEAD. Files that a sparse checkout left out stay in it.
 */
export async function commitWorkTree({ mirror, head, headTree }: WorkTree): Promise<string> {
  const { path } = mirror.repository;
  const listing = ['ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard'];
  const listed = await run(mirror, [...listing, '--', ...listPathspecs(path)]);
  const names = new Set(listed.split('\0').filter(name => name !== '' && !name.endsWith('/')));
  for (const name of await listNested(mirror.repository)) {
    const entry = `160000,${'1'.repeat(head.length)},${name}`;
    await run(mirror, ['update-index', '--add', '--replace', '--cacheinfo', entry]);
  }
  // What is below a file or link that took the place of a folder goes with the folder.
  const isBelow = (name: string) =>
    [...name.matchAll(/\//g)].some(({ index }) => names.has(name.slice(0, index)));
  const changed = [...names].filter(name => !isBelow(name));
  if (changed.length > 0) {
    const input = changed.map(name => `${name}\0`).join('');
    await run(mirror, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
  }
  const tree = (await run(mirror, ['write-tree', '--missing-ok'])).trim();
  if (tree === headTree) return head;
  return (await run(mirror, ['commit-tree', tree, '-p', head, '-m', 'Work tree'])).trim();
}

/** Lists repositories of their own among the definitions: `git add` makes submodules of them, and lists none of their files. */
async function listNested({
  url: root,
  path,
}: Pick<GitMirror['repository'], 'url' | 'path'>): Promise<string[]> {
  const found = await Promise.all(
    definitionFoldersOf(path).map(async folder => {
      const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
      const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => `${folder}/${name}`);
      return folders.filter(name => existsSync(join(root, name, '.git')));
    }),
  );
  return found.flat();
}

/** Lists files in the definitions folders that git ignores, relative to the definitions directory. */
export async function listIgnored(tree: WorkTree): Promise<string[]> {
  const { mirror } = tree;
  const listing = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--'];
  const listed = await run(mirror, [...listing, ...listFolders(mirror.repository.path)]);
  return toOwnPaths(tree, listed);
}

/**
 * Lists changed files in the definitions folders whose changes git does not see, because it was told so by
 * `git update-index --skip-worktree` or `--assume-unchanged`, as `listIgnored` does. Call it after `commitWorkTree`: from
 * then on, the temporary index sees them.
 */
export async function listUnseen(tree: WorkTree): Promise<string[]> {
  const { mirror } = tree;
  const { path, url: root } = mirror.repository;
  const listed = await run(mirror, ['ls-files', '-v', '-z', '--', ...listFolders(path)]);
  // A sparse checkout sets the same flag on files that it leaves out.
  const unseen = listed.split('\0').flatMap(line => {
    const name = line.slice(2);
    return /^[a-zS] /.test(line) && existsSync(join(root, name)) ? [name] : [];
  });
  if (unseen.length === 0) return [];
  const input = unseen.map(name => `${name}\0`).join('');
  // Git takes only one of the two at a time.
  for (const flag of ['--no-skip-worktree', '--no-assume-unchanged'])
    await run(mirror, ['update-index', flag, '-z', '--stdin'], { input });
  const modified = await run(mirror, ['ls-files', '-z', '--modified', '--', ...listFolders(path)]);
  const changed = new Set(modified.split('\0'));
  return unseen.filter(name => changed.has(name)).flatMap(name => toOwnPath(tree, name) ?? []);
}

function toOwnPaths(tree: WorkTree, listed: string): string[] {
  return listed.split('\0').flatMap(name => (name === '' ? [] : (toOwnPath(tree, name) ?? [])));
}

const definitionFoldersOf = (path: string) =>
  Object.values(definitionFolders).map(folder => (path === '' ? folder : `${path}/${folder}`));

const listFolders = (path: string) => definitionFoldersOf(path).map(folder => `:(top,literal)${folder}`);

/** Definitions, the texts that automations can name as their prompts, and folders that may be misnamed. */
function listPathspecs(path: string): string[] {
  const start = path === '' ? '' : `${path.replaceAll(/[*?[\\]/g, '\\$&')}/`;
  const patterns = ['**/*.md', '**/*.txt', '*/*.yaml', '*/*.yml'];
  return [...listFolders(path), ...patterns.map(pattern => `:(top,glob)${start}${pattern}`)];
}

/** The path of a file of the repository in the definitions directory; undefined outside of it. */
export function toOwnPath({ mirror }: WorkTree, name: string): string | undefined {
  const { path } = mirror.repository;
  if (path === '') return name;
  return name.startsWith(`${path}/`) ? name.slice(path.length + 1) : undefined;
}

/** The result of a merge that nothing keeps. */
export interface MergedTree {
  readonly tree: string;
  /** The files with conflicts, relative to the root of the repository. In the tree, these have both sides. */
  readonly conflicts: readonly string[];
}

/** Merges two commits, as `git merge` does. Fails with a `GitFailure`, also of a git older than 2.38. */
export async function mergeCommits({ mirror }: WorkTree, ours: string, theirs: string): Promise<MergedTree> {
  const merge = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const [tree = '', ...conflicts] = (await run(mirror, merge, { exitCodes: [1] })).split('\0');
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(tree))
    throw new GitFailure('refused', 'git cannot merge these commits');
  return { tree, conflicts: conflicts.filter(name => name !== '') };
}

interface RunOptions {
  readonly input?: string;
  /** Exit statuses other than 0 that are answers. */
  readonly exitCodes?: readonly number[];
}

function run(mirror: GitMirror, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return runGit({ ...mirror, ...options }, git => git.raw([...args]));
}
