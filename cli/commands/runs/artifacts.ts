import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { printData, printExactly } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs artifacts`. */
export function declareRunsArtifacts(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'artifacts',
    'list the files that a run left, or print one',
    `
With a name, prints that file to standard output, byte for byte. The files are on the machine that executed the run.

Examples:
  hookmill runs artifacts run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs artifacts run_01jd3m8z9qk5v7w2x4y6abcdef report.md > report.md`,
  )
    .argument('<id>', 'ID of the run')
    .argument('[name]', 'name of the file to print')
    .action(async (id: string, name: string | undefined, _: object, command: Command) => {
      const { backend, output } = await openBackend(command);
      if (name !== undefined)
        return printExactly(await backend.call('downloadArtifact', { params: { run: id, artifact: name } }));
      const { artifacts = [] } = await backend.call('showRun', { params: { run: id } });
      printData(output, { artifacts }, () =>
        renderTable(
          ['NAME', 'BYTES'],
          artifacts.map(({ name, size }) => [name, String(size)]),
        ),
      );
    });
}
