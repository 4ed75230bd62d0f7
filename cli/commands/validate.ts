import type { Command } from 'commander';
import { type Diagnostic, sortDiagnostics } from '../../schema/diagnostics.ts';
import { definitionsDirectory } from '../definitions-directory.ts';
import { CommandError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';
import { loadPaths } from '../load-definitions.ts';
import { printData, printStatus } from '../output.ts';
import { renderDiagnostics } from '../render-diagnostics.ts';

/** Definitions alone, offline: no state, no secrets. */
export async function validate(paths: readonly string[], command: Command): Promise<void> {
  const options: GlobalOptions & { format?: 'text' | 'json' } = command.optsWithGlobals();
  const factories = loadPaths(definitionsDirectory(options), paths);
  const diagnostics = sortDiagnostics(
    factories.flatMap(({ definitions, fixtures, workspace }) => [
      ...(workspace?.diagnostics ?? []),
      ...definitions.diagnostics,
      ...fixtures.flatMap(fixture => fixture.diagnostics),
    ]),
  );
  const texts = new Map(factories.flatMap(({ definitions }) => [...definitions.texts]));
  for (const { workspace } of factories) if (workspace) texts.set(workspace.file, workspace.text);
  const fileCount = factories.reduce((sum, { definitions }) => sum + definitions.fileCount, 0);
  const errorCount = count(diagnostics, 'error');
  const warningCount = count(diagnostics, 'warning');

  const data = { valid: errorCount === 0, errorCount, warningCount, diagnostics };
  printData({ output: options.format ?? options.output }, data, () => renderDiagnostics(diagnostics, texts));
  printStatus(summary(fileCount, errorCount, warningCount));
  if (errorCount > 0) throw new CommandError('');
}

function count(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter(diagnostic => diagnostic.severity === severity).length;
}

function summary(files: number, errors: number, warnings: number): string {
  if (files === 0 && errors === 0)
    return 'No definitions here: they are webhooks/<name>.yaml and automations/<name>.yaml.';
  const checked = `${files} ${files === 1 ? 'definition' : 'definitions'}`;
  if (errors + warnings === 0) return `${checked}, all valid.`;
  return `${checked}: ${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
}
