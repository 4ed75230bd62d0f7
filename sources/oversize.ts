import type { Diagnostic } from '../schema/diagnostics.ts';
import { definitionFilesMax, factoryBytesMax } from '../schema/factory-size.ts';
import type { DefinitionFiles } from './definitions.ts';

/** Finds out, before anything is parsed, whether the files are too many or too large. */
export function findOversize({ files, prompts = new Map() }: DefinitionFiles): Diagnostic | undefined {
  if (files.length > definitionFilesMax) return describeCrowd('definitions', files.length);
  const contents = [...files.map(file => file.bytes), ...prompts.values()];
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

/** The diagnostic for a folder with too many files. None of them is read. */
export function describeCrowd(folder: string, count: number): Diagnostic {
  const message = `there are ${count} files, and at most ${definitionFilesMax} definition files are allowed`;
  return diagnoseOversize(folder, message);
}

/** The diagnostic for definitions that exceed a limit of the factory. */
export function diagnoseOversize(file: string, message: string): Diagnostic {
  const hint = 'move some to the definitions directory of another factory';
  return { code: 'factory/too-large', severity: 'error', message, file, hint };
}
