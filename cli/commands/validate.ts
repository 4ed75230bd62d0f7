import { relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { type Diagnostic, sortDiagnostics } from '../../schema/diagnostics.ts';
import { definitionsDirectory } from '../definitions-directory.ts';
import { CommandError } from '../exit-status.ts';
import {
  type Findings,
  type FormatName,
  formatForEnvironment,
  isReport,
  loadFormat,
} from '../formats/format.ts';
import type { GlobalOptions } from '../global-options.ts';
import { type LoadedFactory, loadPaths } from '../load-definitions.ts';
import { printStatus } from '../output.ts';
import { repositoryRoot } from '../repository-root.ts';
import { version } from '../version.ts';

interface ValidateOptions extends GlobalOptions {
  readonly format?: FormatName;
  readonly changedSince?: string;
  readonly secretsFrom?: string;
}

/** Definitions alone, offline: no state, no secrets. */
export async function validate(paths: readonly string[], command: Command): Promise<void> {
  const options: ValidateOptions = command.optsWithGlobals();
  const directory = definitionsDirectory(options);
  const factories = loadPaths(directory, paths);
  const found = [
    ...factories.flatMap(diagnosticsOf),
    ...(options.secretsFrom === undefined ? [] : await missingSecrets(factories, options.secretsFrom)),
  ];
  const { changedSince } = options;
  const reported = changedSince === undefined ? found : await touched(found, directory, changedSince);
  const findings = findingsOf(sortDiagnostics(reported), factories);

  await print(findings, formatOf(options, command), directory);
  const fileCount = factories.reduce((sum, { definitions }) => sum + definitions.fileCount, 0);
  printStatus(summary(fileCount, findings));
  if (findings.errorCount > 0) throw new CommandError('');
}

function diagnosticsOf({ definitions, fixtures, workspace }: LoadedFactory): Diagnostic[] {
  return [
    ...(workspace?.diagnostics ?? []),
    ...definitions.diagnostics,
    ...fixtures.flatMap(fixture => fixture.diagnostics),
  ];
}

async function missingSecrets(factories: readonly LoadedFactory[], file: string): Promise<Diagnostic[]> {
  const [{ readSecretNames }, { findSecretDiagnostics }] = await Promise.all([
    import('../secret-names.ts'),
    import('../../operations/checks/secret-diagnostics.ts'),
  ]);
  const names = readSecretNames(file);
  const secrets = new Map(names.map(name => [name, { name }]));
  return factories.flatMap(({ definitions }) => findSecretDiagnostics(definitions, secrets, names));
}

async function touched(
  diagnostics: readonly Diagnostic[],
  directory: string,
  revision: string,
): Promise<Diagnostic[]> {
  const { changedFiles, isTouched } = await import('../changed-files.ts');
  const changed = await changedFiles(directory, revision);
  return diagnostics.filter(diagnostic => isTouched(diagnostic, changed, file => resolve(directory, file)));
}

function findingsOf(diagnostics: readonly Diagnostic[], factories: readonly LoadedFactory[]): Findings {
  const count = (severity: Diagnostic['severity']) =>
    diagnostics.filter(diagnostic => diagnostic.severity === severity).length;
  const texts = new Map(factories.flatMap(({ definitions }) => [...definitions.texts]));
  for (const { fixtures, workspace } of factories) {
    if (workspace?.text) texts.set(workspace.file, workspace.text);
    for (const { file, text } of fixtures) texts.set(file, text);
  }
  return { diagnostics, texts, errorCount: count('error'), warningCount: count('warning'), version };
}

/** What was asked for; else what the environment reads. */
function formatOf({ format, output }: ValidateOptions, command: Command): FormatName {
  if (format !== undefined) return format;
  const isAsked = command.getOptionValueSourceWithGlobals('output') === 'cli';
  if (output === 'json') return 'json';
  return isAsked ? 'text' : formatForEnvironment(process.env);
}

async function print(findings: Findings, format: FormatName, directory: string): Promise<void> {
  const render = await loadFormat(format);
  process.stdout.write(render(isReport(format) ? fromRoot(findings, directory) : findings));
  if (!isReport(format) || format === 'github') return;
  // Such a report goes to a file; the log is for people.
  const renderText = await loadFormat('text');
  process.stderr.write(renderText(findings));
}

/** The same findings, their files named from the repository's root. */
function fromRoot(findings: Findings, directory: string): Findings {
  const root = repositoryRoot(directory, process.env);
  const rename = (file: string) => relative(root, resolve(directory, file)).split(sep).join('/');
  return {
    ...findings,
    diagnostics: findings.diagnostics.map(diagnostic => ({ ...diagnostic, file: rename(diagnostic.file) })),
    texts: new Map([...findings.texts].map(([file, text]) => [rename(file), text])),
  };
}

function summary(files: number, { errorCount, warningCount }: Findings): string {
  if (files === 0 && errorCount === 0)
    return 'No definitions here: they are webhooks/<name>.yaml and automations/<name>.yaml.';
  const checked = `${files} ${files === 1 ? 'definition' : 'definitions'}`;
  if (errorCount + warningCount === 0) return `${checked}, all valid.`;
  return `${checked}: ${number(errorCount, 'error')}, ${number(warningCount, 'warning')}.`;
}

function number(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
