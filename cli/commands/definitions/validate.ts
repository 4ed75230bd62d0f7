import { statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { Option } from 'commander';
import { type Diagnostic, sortDiagnostics } from '../../../schema/diagnostics.ts';
import { openBackend } from '../../backend/open-backend.ts';
import type { LoadedFactory } from '../../definitions/load-definitions.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import type { Findings } from '../../formats/findings.ts';
import {
  chooseFormat,
  type FormatName,
  formatNames,
  isReport,
  loadFormat,
} from '../../formats/load-format.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { readSecretNames } from '../../input/read-input.ts';
import { printExactly, printFindings, printStatus, printText } from '../../output.ts';
import { version } from '../../version.ts';
import { findDefinitionsDirectory, findRepositoryRoot } from '../../work-tree.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill validate`. */
export function declareValidate(command: CliCommand): void {
  command
    .explain(`check definitions, without state or secrets

Examples:
  hookmill validate
  hookmill validate teams/payments teams/hosting --format json
  hookmill validate --changed-since origin/main --secrets-from secret-names.txt
  hookmill validate --format sarif > hookmill.sarif
  hookmill validate --observed
  hookmill validate --watch

With --observed, also compares the definitions with what their webhooks received, as a plan does: that needs the home, the
database or --server.
With --watch, validates again and prints the findings as text whenever a file has changed, until Ctrl-C.
The default format is github if GITHUB_ACTIONS is set, gitlab if GITLAB_CI is set, otherwise text.
docs/reference/diagnostics/README.md explains each rule with examples.`)
    .argument('[paths...]', 'definition files or definitions directories; each directory is a factory')
    .addOption(new Option('--format <format>', 'format of the findings').choices(formatNames))
    .option('--changed-since <revision>', 'only findings in files that differ from this git revision')
    .option('--observed', 'also judge the definitions by the deliveries that were accepted')
    .option('--secrets-from <file>', 'check each secretName against a file with one name per line')
    .option('--watch', 'validate again whenever a definition has changed')
    .action(async (paths: string[], options: ValidateOptions, command: CliCommand) =>
      options.watch ? watchPaths(paths, command) : validate(paths, command),
    );
}

interface ValidateOptions extends GlobalOptions {
  readonly format?: FormatName;
  readonly changedSince?: string;
  readonly secretsFrom?: string;
  readonly observed?: true;
  readonly watch?: true;
}

async function watchPaths(paths: readonly string[], command: CliCommand): Promise<void> {
  const { refuseWithWatch, watchDefinitions } = await import('../../definitions/watch-definitions.ts');
  const options: ValidateOptions = command.optsWithGlobals();
  refuseWithWatch({ '--format': options.format !== undefined, '-o json': options.output === 'json' });
  const directory = findDefinitionsDirectory(options);
  const directories = (paths.length === 0 ? ['.'] : paths).map(path => {
    const absolute = resolve(directory, path);
    return statSync(absolute, { throwIfNoEntry: false })?.isFile() ? dirname(dirname(absolute)) : absolute;
  });
  await watchDefinitions(directories, () => validate(paths, command));
}

async function validate(paths: readonly string[], command: CliCommand): Promise<void> {
  const [{ findSharedFactories, loadPaths }, { findTrackedHomes }] = await Promise.all([
    import('../../definitions/load-definitions.ts'),
    import('../../definitions/tracked-homes.ts'),
  ]);
  const options: ValidateOptions = command.optsWithGlobals();
  const directory = findDefinitionsDirectory(options);
  // git lists tracked homes in a process of its own while this one reads the files.
  const [homes, factories] = await Promise.all([
    findTrackedHomes(directory, options.home),
    (async () => loadPaths(directory, paths))(),
  ]);
  const found = [
    ...factories.flatMap(listDiagnostics),
    ...findSharedFactories(factories),
    ...homes,
    ...(options.observed ? await judgeByObservation(paths, command, factories) : []),
    ...(options.secretsFrom === undefined ? [] : await findMissingSecrets(factories, options.secretsFrom)),
  ];
  const { changedSince } = options;
  const reported = changedSince === undefined ? found : await keepChanged(found, directory, changedSince);
  const findings = toFindings(sortDiagnostics(reported), factories);

  const isAsked = command.getOptionValueSourceWithGlobals('output') === 'cli';
  const chosen = options.format ?? findOutputFormat(options, isAsked);
  const format = chosen ?? (options.watch ? 'text' : chooseFormat(process.env));
  await printReport(findings, format, directory);
  const fileCount = factories.reduce((sum, { definitions }) => sum + definitions.fileCount, 0);
  printStatus(summarizeFindings(fileCount, findings));
  if (findings.errorCount > 0) throw new CommandError('');
}

function listDiagnostics({ definitions, fixtures, workspace }: LoadedFactory): Diagnostic[] {
  return [
    ...(workspace?.diagnostics ?? []),
    ...definitions.diagnostics,
    ...fixtures.flatMap(fixture => fixture.diagnostics),
  ];
}

/** Returns what a plan says besides. Fails with paths, because a plan is of the whole definitions directory. */
async function judgeByObservation(
  paths: readonly string[],
  command: CliCommand,
  factories: readonly LoadedFactory[],
): Promise<readonly Diagnostic[]> {
  if (paths.length > 0) throw new UsageError('--observed works without paths: use -C for the directory');
  const { backend } = await openBackend(command);
  const { diagnostics } = await backend.plan({ withImpact: true, onNote: printStatus });
  const known = new Set(factories.flatMap(listDiagnostics).map(diagnostic => JSON.stringify(diagnostic)));
  return diagnostics.filter(diagnostic => !known.has(JSON.stringify(diagnostic)));
}

async function findMissingSecrets(factories: readonly LoadedFactory[], file: string): Promise<Diagnostic[]> {
  const { findSecretDiagnostics } = await import('../../../operations/checks/secret-diagnostics.ts');
  const names = await readSecretNames(file);
  const secrets = new Map(names.map(name => [name, { name }]));
  return factories.flatMap(({ definitions }) => findSecretDiagnostics(definitions, secrets, names));
}

async function keepChanged(
  diagnostics: readonly Diagnostic[],
  directory: string,
  revision: string,
): Promise<Diagnostic[]> {
  const { findChangedFiles, isTouched } = await import('../../definitions/changed-files.ts');
  const changed = await findChangedFiles(directory, revision);
  return diagnostics.filter(diagnostic => isTouched(diagnostic, changed, file => resolve(directory, file)));
}

function toFindings(diagnostics: readonly Diagnostic[], factories: readonly LoadedFactory[]): Findings {
  const count = (severity: Diagnostic['severity']) =>
    diagnostics.filter(diagnostic => diagnostic.severity === severity).length;
  const texts = new Map(factories.flatMap(({ definitions }) => [...definitions.texts]));
  for (const { fixtures, workspace } of factories) {
    if (workspace?.text) texts.set(workspace.file, workspace.text);
    for (const { file, text } of fixtures) texts.set(file, text);
  }
  return { diagnostics, texts, errorCount: count('error'), warningCount: count('warning'), version };
}

/** Finds the format that --output asks for. Text counts only on the command line, because it is also the default. */
function findOutputFormat({ output }: GlobalOptions, isAsked: boolean): FormatName | undefined {
  if (output === 'json') return 'json';
  return isAsked ? 'text' : undefined;
}

async function printReport(findings: Findings, format: FormatName, directory: string): Promise<void> {
  const render = await loadFormat(format);
  const report = render(isReport(format) ? nameFromRoot(findings, directory) : findings);
  // GitHub's format consists of commands, with the parts from files escaped.
  if (format === 'github') printExactly(report);
  else printText(report);
  if (!isReport(format) || format === 'github') return;
  // The report usually goes to a file, so people read the findings on standard error.
  const renderText = await loadFormat('text');
  printFindings(renderText(findings));
}

/** Changes file names to be relative to the repository's root. */
function nameFromRoot(findings: Findings, directory: string): Findings {
  const root = findRepositoryRoot(directory, process.env);
  const rename = (file: string) => relative(root, resolve(directory, file)).split(sep).join('/');
  return {
    ...findings,
    diagnostics: findings.diagnostics.map(diagnostic => ({ ...diagnostic, file: rename(diagnostic.file) })),
    texts: new Map([...findings.texts].map(([file, text]) => [rename(file), text])),
  };
}

function summarizeFindings(files: number, { errorCount, warningCount }: Findings): string {
  const checked = renderCount(files, 'definition');
  if (errorCount + warningCount === 0) return `${checked}, all valid.`;
  return `${checked}: ${renderCount(errorCount, 'error')}, ${renderCount(warningCount, 'warning')}.`;
}

function renderCount(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
