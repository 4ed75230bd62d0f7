import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Option } from 'commander';
import { printable } from '../../../schema/text/printable.ts';
import { requireFactoryName } from '../../context.ts';
import { findRepositoryRoot } from '../../definitions/repository-root.ts';
import { CommandError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { renderSteps, type Step } from '../../render/render-table.ts';
import type { CiHost, ScaffoldFile } from '../../scaffold/scaffold.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill init`. */
export function declareInit(command: CliCommand): void {
  command
    .explain(`create the files of a definitions repository; existing files are kept

Writes the folders, hookmill.yaml, the schemas for editors, and the configuration with which CI and pre-commit validate
each change. In a folder of a repository, the files for CI and pre-commit go to the repository's root.

Examples:
  hookmill init
  hookmill init teams/payments --factory payments --ci github`)
    .argument('[directory]', 'the definitions directory, created if it does not exist', '.')
    .addOption(
      new Option('--ci <host>', 'CI to create a workflow for')
        .choices(['all', 'github', 'gitlab', 'none'])
        .default('all'),
    )
    .action(async (directory: string, _, command: CliCommand) => init(directory, command.optsWithGlobals()));
}

interface InitOptions extends GlobalOptions {
  readonly ci: 'all' | 'none' | CiHost;
}

async function init(path: string, options: InitOptions): Promise<void> {
  const { ciHosts, createScaffold, ignoredByGit } = await import('../../scaffold/scaffold.ts');
  const { factory = 'default', ci } = options;
  requireFactoryName(factory);
  const directory = resolve(options.directory, path);
  const root = findRepositoryRoot(directory, {});
  const files = createScaffold({
    factory,
    pathInRepository: relative(root, directory).split(sep).join('/'),
    ci: ciHosts.filter(host => ci === 'all' || ci === host),
  });

  const written = files.map(file => {
    const absolute = join(file.under === 'repository' ? root : directory, file.path);
    return { file: relative(process.cwd(), absolute) || file.path, isCreated: createFile(absolute, file) };
  });
  const created = written.filter(({ isCreated }) => isCreated).map(({ file }) => file);
  const kept = written.filter(({ isCreated }) => !isCreated).map(({ file }) => file);
  const unignored = findUnignored(directory, ignoredByGit);
  const steps = [
    ...(unignored.length === 0 ? [] : [getIgnoreStep(unignored)]),
    ...(ci === 'none' ? [] : [packageStep]),
    ...nextSteps,
  ];
  printData(options.output, { directory, created, kept, steps }, () => {
    const renderList = (label: string, names: readonly string[]) =>
      names.map(name => `${label}  ${printable(name)}\n`).join('');
    const from = relative(process.cwd(), directory) || '.';
    return `${renderList('created', created)}${renderList('kept   ', kept)}\nNext:\n${renderSteps(steps, from)}`;
  });
}

const packageStep: Step = {
  say: 'Build the tarball that CI installs (docs/pull-requests.md), and set HOOKMILL_PACKAGE and HOOKMILL_INTEGRITY in the CI file.',
};

const nextSteps: readonly Step[] = [
  {
    say: 'Add a webhook for a sender; `hookmill schemes list` shows the known providers:',
    run: 'add github',
  },
  { say: 'Validate the definitions, as CI and the pre-commit hook will:', run: 'validate' },
  { say: 'Commit. From now on, change the definitions in pull requests.' },
];

/** Creates a file. Returns false if it already exists. */
function createFile(absolute: string, { path, content }: ScaffoldFile): boolean {
  try {
    mkdirSync(dirname(absolute), { recursive: true });
  } catch (error) {
    throw refuseWrite(path, error);
  }
  try {
    writeFileSync(absolute, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw refuseWrite(path, error);
  }
}

function refuseWrite(path: string, cause: unknown): CommandError {
  const { code } = cause as NodeJS.ErrnoException;
  return new CommandError(`${path} cannot be written (${code}); no existing file was changed`);
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
