import { posix } from 'node:path';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { definitionFilesMax, factoryBytesMax } from '../schema/factory-size.ts';
import { type DefinitionFiles, definitionFolders, type Entry } from './definitions.ts';

/** Finds out, before anything is parsed, whether the files are too many or too large. */
export function findOversize({
  files,
  asides = [],
  prompts = new Map(),
}: DefinitionFiles): Diagnostic | undefined {
  if (files.length > definitionFilesMax) return describeCrowd('definitions', files.length);
  const contents = [...[...files, ...asides].map(file => file.bytes), ...prompts.values()];
  const bytes = contents.reduce(
    (sum, content) => sum + (typeof content === 'string' ? 0 : content.length),
    0,
  );
  if (bytes <= factoryBytesMax) return undefined;
  return diagnoseOversize(
    'definitions',
    `the definition files and prompts have ${bytes} bytes, and at most ${factoryBytesMax} are allowed`,
  );
}

/** The diagnostic for a definitions directory with so many bytes that none of its files is read. */
export function describeSize(directory: string): Diagnostic {
  return diagnoseOversize(
    directory,
    `the files have more than the ${factoryBytesMax} bytes that are allowed`,
  );
}

/** Finds a definitions folder with too many files; then none of the definitions is read. */
export function findCrowd(entries: readonly Entry[], label: string): Diagnostic | undefined {
  const counts = Object.values(definitionFolders).map(folder => {
    return { folder, count: entries.filter(({ path }) => path.startsWith(`${folder}/`)).length };
  });
  const crowd = counts.find(({ count }) => count > definitionFilesMax);
  return crowd && describeCrowd(posix.join(label, crowd.folder), crowd.count);
}

function describeCrowd(folder: string, count: number): Diagnostic {
  const message = `there are ${count} files, and at most ${definitionFilesMax} definition files are allowed`;
  return diagnoseOversize(folder, message);
}

/** The diagnostic for definitions that exceed a limit of the factory. */
export function diagnoseOversize(file: string, message: string): Diagnostic {
  const hint = 'move some to the definitions directory of another factory';
  return { code: 'factory/too-large', severity: 'error', message, file, hint };
}
