import { existsSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import type { Command } from 'commander';
import { nameCharsMax, namePattern } from '../../schema/names.ts';
import { definitionFolders } from '../../sources/definitions.ts';
import { openContext, requireFactoryName } from '../context.ts';
import { listFiles } from '../definitions/tracked-files.ts';
import { readWorkspace } from '../definitions/workspace-file.ts';
import { UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** The factory of a new definitions directory. */
export interface ChosenFactory {
  readonly name: string;
  /** Why it is not `default`, if nobody named it. */
  readonly reason?: string;
}

/** A factory that another directory has. */
interface TakenFactory {
  readonly name: string;
  readonly reason: string;
}

/**
 * Chooses the factory of a directory: the one that its `hookmill.yaml` or `--factory` names, otherwise `default`, or the
 * name of the directory if another directory has that. `place` is the path of the directory in the repository.
 * Asks for `--factory` if the directory cannot name a factory.
 */
export async function chooseFactory(
  command: Command,
  directory: string,
  root: string,
  place: string,
): Promise<ChosenFactory> {
  const options: GlobalOptions = command.optsWithGlobals();
  if (options.factory !== undefined) requireFactoryName(options.factory);
  if (existsSync(join(directory, 'hookmill.yaml')))
    return { name: readWorkspace(directory).definition?.factory ?? 'default' };
  if (options.factory !== undefined) return { name: options.factory };
  const others = [
    ...(await findOtherDirectories(root, place)),
    ...(await findAppliedElsewhere(command, directory)),
  ];
  const [other] = others;
  if (!other) return { name: 'default' };
  const names = [basename(directory), place].map(toFactoryName);
  const name = names.find(name => namePattern.test(name) && !others.some(taken => taken.name === name));
  if (name === undefined)
    throw new UsageError(`this directory needs a factory, name it with --factory: ${other.reason}`);
  return { name, reason: other.reason };
}

function toFactoryName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, nameCharsMax);
}

/** Finds the factories of the other definitions directories of a repository, committed or not. */
async function findOtherDirectories(root: string, place: string): Promise<TakenFactory[]> {
  const patterns = ['hookmill.yaml', ...Object.values(definitionFolders).map(folder => `${folder}/*.yaml`)];
  const files = await listFiles(
    root,
    patterns.map(pattern => `:(top,glob)**/${pattern}`),
    'also untracked',
  );
  const directories = files.map(file =>
    posix.dirname(posix.basename(file) === 'hookmill.yaml' ? file : posix.dirname(file)),
  );
  return [...new Set(directories)]
    .filter(other => other !== place)
    .map(other => ({
      name: readWorkspace(join(root, other)).definition?.factory ?? 'default',
      reason: `${other} is another definitions directory`,
    }));
}

/** Finds the factories that were applied from other directories to the home that was named. */
async function findAppliedElsewhere(command: Command, directory: string): Promise<TakenFactory[]> {
  const { home, store: database, server }: GlobalOptions = command.optsWithGlobals();
  if (home === undefined || !existsSync(resolve(home)) || database || server) return [];
  const { store } = await openContext(command);
  const names = await store.appliedStates.listFactories();
  const states = await Promise.all(names.map(name => store.appliedStates.read(name)));
  return states.flatMap(({ factory: name, source }) => {
    if (source?.kind !== 'directory' || source.directory === directory) return [];
    return [{ name, reason: `the home has the factory ${name} of ${source.directory}` }];
  });
}
