import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { FollowOptions } from '../../operations/branch/follow-branch.ts';
import { type Reconciled, reconcile } from '../../operations/branch/reconcile.ts';
import type { Factory } from '../../operations/factory.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { parseRepository, type Repository } from '../../sources/repository/repository.ts';
import { homeAt } from '../../store/home/home.ts';
import { factoryIn, type TestFactory } from './stored.ts';

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-git-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

/** The environment of the operator: this machine's, without its git configuration. */
export const operatorEnvironment: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Makes a program that takes the place of git, from the lines of a shell script, and a PATH that begins with it. */
export function fakeGit(script: string): { readonly directory: string; readonly PATH: string } {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return { directory, PATH: `${directory}:${process.env.PATH}` };
}

/** A file's content, or null to remove it. */
export type Files = Readonly<Record<string, string | null>>;

/** A bare repository to commit to. */
export interface Upstream {
  readonly bare: string;
  /** Runs git on it, with a work tree of its own. */
  git(...args: string[]): string;
  gitWithInput(input: string | Buffer, ...args: string[]): string;
  /** Commits to the branch that is checked out. Returns the revision. */
  commit(files: Files, message?: string, committedAt?: Date): string;
}

export function makeUpstream(directory = temporaryDirectory()): Upstream {
  const [bare, work] = [join(directory, 'upstream.git'), join(directory, 'work')];
  const environment = {
    ...operatorEnvironment,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    GIT_DIR: bare,
    GIT_WORK_TREE: work,
  };
  const git = (args: readonly string[], input: string | Buffer = '') =>
    execFileSync('git', args, { cwd: work, env: environment, input, encoding: 'utf8', stdio: 'pipe' }).trim();
  let isIndexed = true;
  const run: typeof git = (...given) => {
    if (!isIndexed) git(['add', '--all']);
    isIndexed = true;
    return git(...given);
  };
  mkdirSync(work);
  makeBareRepository(bare);
  return {
    bare,
    git: (...args) => run(args),
    gitWithInput: (input, ...args) => run(args, input),
    commit: (files, message = 'Change the webhooks', committedAt = new Date()) => {
      for (const [file, content] of Object.entries(files)) {
        const path = join(work, file);
        mkdirSync(dirname(path), { recursive: true });
        if (content === null) rmSync(path);
        else writeFileSync(path, content);
      }
      isIndexed = false;
      return commitAll(bare, work, message, committedAt);
    },
  };
}

/** Commits as `git add --all` and `git commit` do, without their processes: to start them takes ten times as long. */
function commitAll(bare: string, work: string, message: string, committedAt: Date): string {
  const ref = join(bare, readFileSync(join(bare, 'HEAD'), 'utf8').replace('ref: ', '').trim());
  const parent = existsSync(ref) ? [`parent ${readFileSync(ref, 'utf8').trim()}`] : [];
  const at = (time: Date) => `Ada <ada@example.com> ${Math.floor(time.getTime() / 1000)} +0000`;
  const head = [`tree ${writeTree(bare, work) ?? writeObject(bare, 'tree', '')}`, ...parent];
  const people = [`author ${at(new Date())}`, `committer ${at(committedAt)}`];
  const revision = writeObject(bare, 'commit', [...head, ...people, '', `${message}\n`].join('\n'));
  mkdirSync(dirname(ref), { recursive: true });
  writeFileSync(ref, `${revision}\n`);
  return revision;
}

/** Returns the name of the tree of a directory, undefined if it has no file. */
function writeTree(bare: string, directory: string): string | undefined {
  const entries = readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
    const path = join(directory, entry.name);
    const isTree = entry.isDirectory();
    const oid = isTree ? writeTree(bare, path) : writeObject(bare, 'blob', readFileSync(path));
    const mode = isTree ? '40000' : '100644';
    const bytes = oid && Buffer.concat([Buffer.from(`${mode} ${entry.name}\0`), Buffer.from(oid, 'hex')]);
    return bytes ? [{ key: Buffer.from(`${entry.name}${isTree ? '/' : ''}`), bytes }] : [];
  });
  if (entries.length === 0) return undefined;
  const sorted = entries.sort((a, b) => Buffer.compare(a.key, b.key));
  return writeObject(bare, 'tree', Buffer.concat(sorted.map(({ bytes }) => bytes)));
}

/** Writes an object as git keeps it, and returns its name. */
function writeObject(bare: string, type: string, content: string | Buffer): string {
  const bytes = Buffer.from(content);
  const object = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
  const name = hash('sha1', object);
  const file = join(bare, 'objects', name.slice(0, 2), name.slice(2));
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, deflateSync(object));
  return name;
}

/** The files that `git init` makes, without its templates. */
function makeBareRepository(directory: string): void {
  for (const part of ['objects', 'refs']) mkdirSync(join(directory, part), { recursive: true });
  writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(directory, 'config'), '[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n');
}

export function repositoryAt(url: string, branch = 'main', path = '.'): Repository {
  const parsed = parseRepository(url, branch, path);
  if ('mistake' in parsed) throw new Error(parsed.mistake.message);
  return parsed.repository;
}

export function factoryAt(directory: string, name = 'default'): TestFactory {
  return factoryIn(homeAt(directory), name);
}

/** Makes a factory with the team secrets, and a function that reconciles it. */
export async function followedFactory(
  url: string,
  secrets: Readonly<Record<string, string>> = { S: secret },
  home = join(temporaryDirectory(), 'home'),
) {
  const factory = factoryAt(home);
  for (const [name, value] of Object.entries(secrets)) await factory.store.teamSecrets.set(name, value);
  const followed: FollowedBranch = { repository: repositoryAt(url) };
  return {
    factory,
    followed,
    reconcile: (
      options: Partial<FollowOptions> = {},
      other: Partial<FollowedBranch> = {},
      by: Factory = factory,
    ): Promise<Reconciled> =>
      reconcile(
        by,
        { ...followed, ...other },
        { environment: operatorEnvironment, signal: new AbortController().signal, ...options },
      ),
  };
}

export const secret = 'a-secret-of-thirty-two-characters';

/** A webhook definition. Another name with the same team secret is the same webhook, renamed. */
export function webhook(secretName = 'S', more = ''): string {
  return `authMode: token\nsecretName: ${secretName}\n${more}`;
}
