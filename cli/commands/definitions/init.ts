import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { definitionNamePattern } from '../../../schema/definitions/definition-name.ts';
import { repositoryRoot } from '../../definitions/repository-root.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { printable } from '../../render/printable.ts';
import { renderSteps } from '../../render/render-steps.ts';
import type { Step } from '../../scaffold/new-webhook.ts';
import { type CiHost, ciHosts, ignoredHome, type ScaffoldFile, scaffold } from '../../scaffold/scaffold.ts';

interface InitOptions extends GlobalOptions {
  readonly ci: 'all' | 'none' | CiHost;
}

/** Scaffolds a definitions repository. What is there already is kept as it is. */
export async function init(path: string, command: Command): Promise<void> {
  const options: InitOptions = command.optsWithGlobals();
  const factory = options.factory ?? 'default';
  if (!definitionNamePattern.test(factory)) {
    const rule = 'use lower case letters, digits and -, at most 63';
    throw new CommandError(`"${factory}" cannot name a factory; ${rule}`, exitStatus.usage);
  }
  const directory = resolve(options.directory, path);
  const root = repositoryRoot(directory, {});
  const files = scaffold({
    factory,
    pathInRepository: relative(root, directory).split(sep).join('/'),
    ci: ciOf(options.ci),
  });

  const written = files.map(file => {
    const absolute = join(file.under === 'repository' ? root : directory, file.path);
    return { file: relative(process.cwd(), absolute) || file.path, created: create(absolute, file) };
  });
  const created = written.flatMap(({ file, created }) => (created ? [file] : []));
  const kept = written.flatMap(({ file, created }) => (created ? [] : [file]));
  const steps = [...missingIgnore(directory), ...nextSteps];
  printData(options, { directory, created, kept, steps }, () => {
    const list = (label: string, names: readonly string[]) =>
      names.map(name => `${label}  ${printable(name)}\n`).join('');
    const from = relative(process.cwd(), directory) || '.';
    return `${list('created', created)}${list('kept   ', kept)}\nNext:\n${renderSteps(steps, from)}`;
  });
}

const nextSteps: readonly Step[] = [
  {
    say: 'Add a webhook for a sender; docs/signature-schemes.md lists those known by name:',
    run: 'add github',
  },
  { say: 'Check the definitions, as CI and the pre-commit hook will:', run: 'validate' },
  { say: 'Commit, and let pull requests change the definitions from here on.' },
];

function ciOf(ci: InitOptions['ci']): readonly CiHost[] {
  if (ci === 'all') return ciHosts;
  return ci === 'none' ? [] : [ci];
}

/** False where there is something of that name already, whatever it is. */
function create(absolute: string, { path, content }: ScaffoldFile): boolean {
  const failed = ({ code }: NodeJS.ErrnoException) =>
    new CommandError(`${path} cannot be written (${code}); nothing that existed was changed`);
  try {
    mkdirSync(dirname(absolute), { recursive: true });
  } catch (error) {
    throw failed(error as NodeJS.ErrnoException);
  }
  try {
    writeFileSync(absolute, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw failed(error as NodeJS.ErrnoException);
  }
}

/** A .gitignore that was there before may let the key into git. */
function missingIgnore(directory: string): readonly Step[] {
  const lines = readFileSync(join(directory, '.gitignore'), 'utf8').split('\n');
  if (lines.some(line => /^\/?\.hookmill\/?\s*$/.test(line))) return [];
  return [{ say: `Add ${ignoredHome} to .gitignore: it holds state, and the key to the team secrets.` }];
}
