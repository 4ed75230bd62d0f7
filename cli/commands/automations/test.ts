import type { Command } from 'commander';
import type { TestedDelivery } from '../../../operations/deliveries.ts';
import { requireAutomation } from '../../../operations/require-applied.ts';
import type { EventHeaders } from '../../../schema/event-headers.ts';
import { printable } from '../../../schema/printable.ts';
import { definitionFolders } from '../../../sources/definition-file-name.ts';
import type { Definitions } from '../../../sources/definitions.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { findPlace } from '../../context.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import type { Place } from '../../global-options.ts';
import { createHeaderOption, type HeaderLines } from '../../input/header-option.ts';
import { readInputFile } from '../../input/read-input-file.ts';
import { printData, printFindings, printStatus } from '../../output.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';
import { renderVerdict } from '../../render/render-verdict.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill automations test`. */
export function declareAutomationsTest(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'test',
    'show whether a payload would start a run, with the result of each check and filter clause',
    `
Tests the definition in the definitions directory. If there is none, it tests the applied automation.

Examples:
  hookmill automations test triage --delivery dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill automations test triage --payload event.json --header 'X-GitHub-Event: push'
  hookmill automations test triage --fixtures`,
  )
    .argument('<name>', 'name of the automation')
    .option('--delivery <id>', 'test with a stored delivery')
    .option('--payload <file>', 'test with a file, as if it came to the webhook of the trigger')
    .addOption(createHeaderOption('a header of the payload, as in "X-GitHub-Event: push"; repeatable'))
    .option('--fixtures', 'test with automations/<name>.fixtures/*.json')
    .action(async (name: string, options: TestOptions, command: Command) => {
      const { header, ...tested } = options;
      if (Object.keys(tested).length !== 1)
        throw new UsageError('use exactly one of --delivery, --payload and --fixtures');
      if (header && !options.payload) throw new UsageError('--header requires --payload');
      if (options.fixtures) await testFixtures(name, await findPlace(command));
      else await testDelivery(name, options, command, openBackend);
    });
}

interface TestOptions {
  readonly delivery?: string;
  readonly payload?: string;
  readonly fixtures?: true;
  readonly header?: HeaderLines;
}

async function testDelivery(
  name: string,
  { delivery, payload, header }: TestOptions,
  command: Command,
  openBackend: OpenBackend,
): Promise<void> {
  const { backend, directory, output, factory } = await openBackend(command);
  const draft = findDefinition(name, await readDefinitions(directory));
  if (!draft) requireAutomation({ factory, ...(await backend.listAutomations()) }, name);
  const tested: TestedDelivery =
    payload === undefined
      ? { id: delivery ?? '' }
      : { payload: await readPayloadFile(payload), headers: toEventHeaders(header) };
  const verdict = await backend.testFilter(draft ?? name, tested);
  printData(output, verdict, () => renderVerdict(verdict));
}

/** As the ingress keeps them: several fields of one name are one value. */
function toEventHeaders(lines: HeaderLines = []): EventHeaders {
  const grouped = Map.groupBy(lines, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...grouped].map(([name, same]) => [name, same.map(([, value]) => value).join(', ')]),
  );
}

async function testFixtures(name: string, { directory, output }: Place): Promise<void> {
  const { runFixtures } = await import('../../../sources/fixtures.ts');
  const definitions = await readDefinitions(directory);
  if (!findDefinition(name, definitions)) {
    throw new CommandError(`${getDefinitionFile(name)} does not exist in the definitions directory`);
  }
  const results = runFixtures(directory, '', definitions.automations).filter(
    ({ automation }) => automation === name,
  );
  const data = results.map(({ file, automation, diagnostics }) => ({ file, automation, diagnostics }));
  printData(output, data, () =>
    results
      .map(({ file, diagnostics, text }) =>
        diagnostics.length > 0
          ? renderDiagnostics(diagnostics, new Map([[file, text]]))
          : `${printable(file)}: as expected\n`,
      )
      .join(''),
  );
  const failed = results.filter(({ diagnostics }) => diagnostics.length > 0).length;
  printStatus(
    `${results.length === 1 ? '1 fixture' : `${results.length} fixtures`}, ${failed} not as expected.`,
  );
  if (failed > 0) throw new CommandError('');
}

async function readDefinitions(directory: string): Promise<Definitions> {
  const [{ readDirectory }, { parseDefinitions }] = await Promise.all([
    import('../../../sources/directory-source.ts'),
    import('../../../sources/parse-definitions.ts'),
  ]);
  return parseDefinitions(readDirectory(directory));
}

/** Finds the definition in the work tree. Fails if it has mistakes, instead of testing the applied one. */
function findDefinition(name: string, { automations, diagnostics, texts }: Definitions) {
  const definition = automations.find(automation => automation.name === name);
  if (definition) return definition;
  const file = getDefinitionFile(name);
  const mistakes = diagnostics.filter(diagnostic => diagnostic.file === file);
  if (mistakes.length === 0) return undefined;
  printFindings(renderDiagnostics(mistakes, texts));
  throw new CommandError(`the definition of the automation ${name} has mistakes`);
}

function getDefinitionFile(name: string): string {
  return `${definitionFolders.automation}/${name}.yaml`;
}

async function readPayloadFile(file: string): Promise<unknown> {
  const bytes = await readInputFile(file, 'the payload');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new CommandError(`${file} is not JSON in UTF-8: the ingress would reject it`);
  }
}
