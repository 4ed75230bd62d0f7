import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { quoteShellWord } from '../../../schema/clients/render-curl.ts';
import { printable } from '../../../schema/text/printable.ts';
import { createBelow, describeFileError, overwriteBelow, readBelow } from '../../../sources/open-folder.ts';
import { CommandError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { renderSteps, type Step } from '../../render/render-table.ts';
import type { CoverDirectory } from '../../scaffold/ci.ts';
import type { CiHost, ScaffoldFile } from '../../scaffold/scaffold.ts';
import { findRepositoryRoot, locateInRepository } from '../../work-tree.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill init`. */
export function declareInit(command: CliCommand): void {
  command
    .explain(`create the files of a definitions repository; existing files are kept

Writes the folders, hookmill.yaml, the schemas for editors, and the configuration with which CI and pre-commit validate
each change, and CI comments on it with the plan. By default, these are files for the CI of the host that the remote
origin names; without one, for each CI that the repository already has files of, otherwise for both. In a folder of a
repository, the files for CI and pre-commit go to the repository's root; init in a further folder adds it to them, and
names its factory after the folder, because each directory needs a factory of its own. With --agents, a skill goes there
too, which tells coding agents how to write, validate and propose definitions.

Examples:
  hookmill init
  hookmill init --agents
  hookmill init teams/payments --factory payments --ci github`)
    .argument('[directory]', 'the definitions directory, created if it does not exist', '.')
    .addOption(
      new Option('--ci <host>', 'CI to create jobs for; auto: the CI of the repository')
        .choices(['auto', 'all', 'github', 'gitlab', 'none'])
        .default('auto'),
    )
    .option('--agents', 'also create a skill for coding agents, in .claude/skills and .agents/skills')
    .action(async (directory: string, _, command: CliCommand) => init(directory, command));
}

interface InitOptions extends GlobalOptions {
  readonly ci: 'auto' | 'all' | 'none' | CiHost;
  readonly agents?: true;
}

async function init(path: string, command: CliCommand): Promise<void> {
  const [{ ciHosts, createScaffold, ignoredByGit }, { coverDirectory }, { chooseFactory }] =
    await Promise.all([
      import('../../scaffold/scaffold.ts'),
      import('../../scaffold/ci.ts'),
      import('../../scaffold/choose-factory.ts'),
    ]);
  const options: InitOptions = command.optsWithGlobals();
  const { ci, agents = false } = options;
  const directory = resolve(options.directory, path);
  const root = findRepositoryRoot(directory, {});
  const place = locateInRepository(directory, {});
  const factory = await chooseFactory(command, directory, root, place);
  const hosts = ci === 'auto' ? findCiHosts(root) : ciHosts.filter(host => ci === 'all' || ci === host);
  const files = createScaffold({ factory: factory.name, directory: place, ci: hosts, agents });

  const written = files.map(file => {
    const base = file.under === 'repository' ? root : directory;
    const name = relative(process.cwd(), join(base, file.path)) || file.path;
    const what = createFile(base, file) ? 'created' : cover(base, file, place, coverDirectory);
    return { name, what, isOfCi: file.directories !== undefined };
  });
  const named = (...wanted: Written[]) =>
    written.filter(({ what }) => wanted.includes(what)).map(({ name }) => name);
  const unignored = findUnignored(directory, ignoredByGit);
  const steps = [
    ...(unignored.length === 0 ? [] : [getIgnoreStep(unignored)]),
    ...named('not covered').map(name => getCoverStep(name, place)),
    ...(written.some(({ what, isOfCi }) => isOfCi && what === 'created') && hosts.length > 0 ? ciSteps : []),
    ...nextSteps,
    ...(agents ? [agentStep] : []),
  ];
  const data = {
    directory,
    factory: factory.name,
    created: named('created'),
    changed: named('changed'),
    kept: named('kept', 'not covered'),
    steps,
  };
  printData(options.output, data, () => {
    const renderList = (label: string, names: readonly string[]) =>
      names.map(name => `${label}  ${printable(name)}\n`).join('');
    const from = relative(process.cwd(), directory);
    const lists = [
      renderList('created', data.created),
      renderList('changed', data.changed),
      renderList('kept   ', data.kept),
    ];
    const because = `The factory of this directory is ${factory.name}, because ${factory.reason}.`;
    const chosen = factory.reason === undefined ? '' : `\n${printable(because)}\n`;
    return `${lists.join('')}${chosen}\nNext:\n${renderSteps(steps, from === '' ? [] : ['-C', from])}`;
  });
}

/** Finds the CI of a repository: by the host of its remote, otherwise by its files. Returns all if neither says. */
function findCiHosts(root: string): readonly CiHost[] {
  const config = join(root, '.git/config');
  const text = existsSync(config) ? readFileSync(config, 'utf8') : '';
  const [, url = ''] = /\[remote "origin"\][^[]*?\burl = (\S+)/.exec(text) ?? [];
  const found = [
    ['github', '.github'],
    ['gitlab', '.gitlab-ci.yml'],
  ] as const satisfies (readonly [CiHost, string])[];
  const byRemote = found.filter(([host]) => url.includes(host));
  const byFile = found.filter(([, file]) => existsSync(join(root, file)));
  const chosen = [byRemote, byFile, found].find(({ length }) => length > 0) ?? [];
  return chosen.map(([host]) => host);
}

/** The outcome for a file. `not covered`: it exists, but `init` cannot add this directory to it. */
type Written = 'created' | 'changed' | 'kept' | 'not covered';

/** Adds the directory to an existing file that lists directories. */
function cover(
  base: string,
  { path, directories }: ScaffoldFile,
  directory: string,
  coverDirectory: CoverDirectory,
): Written {
  if (!directories) return 'kept';
  try {
    const covered = coverDirectory(readBelow(base, path), directories, directory);
    if (typeof covered === 'string') return covered === 'already' ? 'kept' : 'not covered';
    overwriteBelow(base, path, covered.text);
  } catch (error) {
    throw refuseWrite(path, error);
  }
  return 'changed';
}

function getCoverStep(file: string, directory: string): Step {
  const command = `hookmill -C ${quoteShellWord(directory)} validate`;
  return {
    say: `${printable(file)} is not from init, so it does not cover this directory: let it run ${command}`,
  };
}

const ciSteps: readonly Step[] = [
  {
    say: 'Build the tarball that CI installs (docs/pull-requests.md), and set HOOKMILL_PACKAGE and HOOKMILL_INTEGRITY in the CI file.',
  },
  {
    say: 'For the plan as a comment, set HOOKMILL_SERVER and the tokens that the CI file names (docs/pull-requests.md).',
  },
];

const nextSteps: readonly Step[] = [
  {
    say: 'Add a webhook for a sender; `hookmill schemes list` shows the known providers:',
    run: 'add github',
  },
  { say: 'Validate the definitions, as CI and the pre-commit hook will:', run: 'validate' },
  { say: 'Commit. From now on, change the definitions in pull requests.' },
];

const agentStep: Step = {
  say: 'Let your agent ask the daemon why a webhook did not fire: set up `hookmill mcp` (docs/agents.md).',
};

/** Creates a file. Returns false if it already exists. */
function createFile(base: string, { path, content }: ScaffoldFile): boolean {
  try {
    return createBelow(base, path, content);
  } catch (error) {
    throw refuseWrite(path, error);
  }
}

function refuseWrite(path: string, cause: unknown): CommandError {
  return new CommandError(
    `${path} cannot be written (${describeFileError(cause)}); no existing file was changed`,
  );
}

/** Finds the files that .gitignore does not exclude: an existing one may lack some patterns. */
function findUnignored(directory: string, ignored: readonly string[]): readonly string[] {
  const normalize = (line: string) => line.trim().replace(/^\/|\/$/g, '');
  const lines = new Set(readFileSync(join(directory, '.gitignore'), 'utf8').split('\n').map(normalize));
  return ignored.filter(pattern => !lines.has(normalize(pattern)));
}

function getIgnoreStep(patterns: readonly string[]): Step {
  return {
    say: `Add ${patterns.join(' and ')} to .gitignore, so that git never contains the home, its key, or plan files.`,
  };
}
