import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  const run = (args: readonly string[], input: string | Buffer = '') => {
    const env = environment;
    return execFileSync('git', args, { cwd: work, env, input, encoding: 'utf8', stdio: 'pipe' }).trim();
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
      const env = {
        ...environment,
        GIT_COMMITTER_DATE: `@${Math.floor(committedAt.getTime() / 1000)} +0000`,
      };
      const given = ['-ec', commitScript, 'sh', message];
      return execFileSync('sh', given, { cwd: work, env, encoding: 'utf8', stdio: 'pipe' }).trim();
    },
  };
}

// One process of the test's, which is large and so takes as long to fork as git takes to work. Each commit would start
// another one to see whether objects should be packed.
const commitScript = `git add --all
git -c maintenance.auto=false commit --quiet --allow-empty --message "$1"
git rev-parse HEAD`;

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
