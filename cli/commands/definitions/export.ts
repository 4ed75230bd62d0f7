import { resolve } from 'node:path';
import { printable } from '../../../schema/text/printable.ts';
import { createBelow, describeFileError, readBelow, removeBelow } from '../../../sources/open-folder.ts';
import { openBackend } from '../../backend/open-backend.ts';
import { CommandError } from '../../exit-status.ts';
import { printData, printStatus } from '../../output.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill export`. */
export function declareExport(command: CliCommand): void {
  command
    .explain(`write what is applied as definition files, also what was made in the dashboard

A plan of these files has no changes. Triggers select the webhooks by their names. No file contains the value of a
secret: a webhook has only the name of its team secret. A file that exists with other content is never overwritten.

With --fixtures, each automation also gets fixtures of stored deliveries: the newest that triggers it and the newest that
does not, of each webhook. Texts over 40 characters and values that look like credentials are left out.

Examples:
  hookmill export definitions
  hookmill export . --fixtures --server https://hooks.example.com`)
    .argument('<directory>', 'the directory to write to, created if it does not exist')
    .option('--fixtures', 'also write fixtures of stored deliveries')
    .action(async (directory: string, options: { fixtures?: true }, command: CliCommand) =>
      exportTo(directory, options, command),
    );
}

interface ExportedFile {
  readonly path: string;
  readonly content: string;
}

async function exportTo(
  path: string,
  { fixtures }: { readonly fixtures?: true },
  command: CliCommand,
): Promise<void> {
  const { backend, output, ...place } = await openBackend(command);
  const directory = resolve(place.directory, path);
  const query = fixtures && { fixtures: 'true' as const };
  const { serial, files } = await backend.call('exportDefinitions', { query: query ?? {} });
  if (serial === 0) throw new CommandError(`nothing is applied to the factory ${place.factory} yet`);
  const { missing, same } = compareFiles(directory, files);
  createFiles(directory, missing);
  const [written, unchanged] = [missing, same].map(group => group.map(file => file.path));
  printData(output, { directory, serial, written, unchanged }, () => {
    const lines = [
      ...(written ?? []).map(file => `created  ${file}`),
      ...(unchanged ?? []).map(file => `kept     ${file}`),
    ];
    return lines.map(line => `${printable(line)}\n`).join('');
  });
  for (const file of await findOthers(directory, files))
    printStatus(`${file} is not applied, so a plan of this directory adds it.`);
}

/** Divides files into those that are missing and those that exist. Fails if one exists with other content. */
function compareFiles(directory: string, files: readonly ExportedFile[]) {
  const found = files.map(file => ({ file, existing: readExisting(directory, file.path) }));
  const others = found.filter(({ file, existing }) => existing !== undefined && existing !== file.content);
  if (others.length > 0) {
    const names = others.map(({ file }) => file.path).join(', ');
    const remedy = 'export to an empty directory and compare, or remove them first';
    throw new CommandError(`nothing was written: ${names} exist with other content; ${remedy}`);
  }
  const pick = (exists: boolean) =>
    found.flatMap(({ file, existing }) => ((existing !== undefined) === exists ? [file] : []));
  return { missing: pick(false), same: pick(true) };
}

function readExisting(directory: string, path: string): string | undefined {
  try {
    return readBelow(directory, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`nothing was written: ${path} cannot be read (${describeFileError(error)})`);
  }
}

/** Creates all of the files, or none. */
function createFiles(directory: string, files: readonly ExportedFile[]): void {
  const created: string[] = [];
  for (const { path, content } of files) {
    try {
      // Somebody has created it since they were compared.
      if (!createBelow(directory, path, content)) throw Object.assign(new Error(), { code: 'EEXIST' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A full disk leaves part of a file.
      for (const file of code === 'ENOSPC' ? [...created, path] : created) removeBelow(directory, file);
      throw new CommandError(`nothing was written: ${path} cannot be written (${describeFileError(error)})`);
    }
    created.push(path);
  }
}

/** Lists the definition files of a directory that an export does not have. */
async function findOthers(directory: string, files: readonly ExportedFile[]): Promise<readonly string[]> {
  const { readDirectory } = await import('../../../sources/directory-source.ts');
  const exported = new Set(files.map(({ path }) => path));
  return readDirectory(directory).files.flatMap(({ file }) => (exported.has(file) ? [] : [printable(file)]));
}
