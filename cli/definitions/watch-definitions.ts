import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { watch } from 'chokidar';
import { definitionFolders } from '../../sources/definitions.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { listPromptPaths } from '../../sources/prompt-files.ts';
import { CommandError, exitStatus, UsageError } from '../exit-status.ts';
import { isOutputOpen, printStatus, printText } from '../output.ts';

/** @limit Time without a change after which `--watch` looks again, in ms: an editor or a checkout changes several files, one after the other. */
const settledMs = 100;
/** @limit Time between two looks of chokidar at each file, in ms, with CHOKIDAR_USEPOLLING: soon enough for a person. */
const pollMs = 1_000;

/** The options that `--watch` excludes, each with its name and whether it was given. */
export function refuseWithWatch(options: Readonly<Record<string, boolean>>): void {
  const [given] = Object.entries(options).find(([, isGiven]) => isGiven) ?? [];
  if (given !== undefined) throw new UsageError(`--watch cannot be combined with ${given}`);
}

/**
 * Prints what `look` finds, and again whenever a file of the definitions directories has changed, until Ctrl-C or until
 * nobody reads the output. Fails only if the first look finds wrong usage.
 */
export async function watchDefinitions(
  directories: readonly string[],
  look: () => Promise<void>,
): Promise<void> {
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(exitStatus.ok));
  const list = () => directories.flatMap(listWatched);
  const watcher = watch(list(), {
    // A file that came between a look and the first look of chokidar is a change.
    ignoreInitial: false,
    pollingInterval: pollMs,
    ignored: path => basename(path).startsWith('.'),
  });
  let [changes, changed] = [0, Promise.withResolvers<void>()];
  watcher.on('all', () => {
    changes++;
    changed.resolve();
  });
  watcher.on('error', error => printStatus(`hookmill: not all changes are noticed: ${String(error)}`));
  try {
    await once(watcher, 'ready');
    for (let isFirst = true; isOutputOpen(); isFirst = false) {
      changed = Promise.withResolvers();
      if (!isFirst) printText(`\n${new Date().toISOString()}\n`);
      await look().catch((error: unknown) => {
        if (!(error instanceof CommandError) || (isFirst && error instanceof UsageError)) throw error;
        if (error.message !== '') printStatus(`hookmill: ${error.message}`);
      });
      await changed.promise;
      watcher.add(list());
      for (let seen = -1; seen !== changes; await wait(settledMs)) seen = changes;
    }
  } finally {
    await watcher.close();
  }
}

/** The file and the folders that a definitions directory may have, and the prompt files that it names, there or not. */
function listWatched(directory: string): string[] {
  const prompts = existsSync(directory) ? listPromptPaths(readDirectory(directory).files) : [];
  return ['hookmill.yaml', ...Object.values(definitionFolders), ...prompts].map(path =>
    join(directory, path),
  );
}
