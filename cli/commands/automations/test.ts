import type { Command } from 'commander';
import { printable } from '../../../schema/printable.ts';
import { getDefinitionPath } from '../../../sources/definition-file-name.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { findPlace } from '../../context.ts';
import { findDefinition, findDraft, readDefinitions } from '../../definitions/find-draft.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import type { Place } from '../../global-options.ts';
import { createHeaderOption, type HeaderLines } from '../../input/header-option.ts';
import { readPayloadFile, toEventHeaders } from '../../input/payload-file.ts';
import { printData, printStatus } from '../../output.ts';
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
  const context = await openBackend(command);
  const { backend, output } = context;
  const draft = await findDraft(name, context);
  const tested = draft ? { triggers: [...draft.triggers] } : { automation: name };
  const by =
    payload === undefined
      ? { delivery }
      : { payload: (await readPayloadFile(payload)).payload, headers: toEventHeaders(header) };
  const judged = await backend.call('testFilter', { body: { ...tested, ...by } });
  // Only the triggers of a draft are sent.
  const verdict = draft
    ? {
        ...judged,
        automation: name,
        enabled: draft.enabled,
        wouldTrigger: draft.enabled && judged.wouldTrigger,
      }
    : judged;
  printData(output, verdict, () => renderVerdict(verdict));
}

async function testFixtures(name: string, { directory, output }: Place): Promise<void> {
  const { runFixtures } = await import('../../../sources/fixtures.ts');
  const definitions = await readDefinitions(directory);
  if (!findDefinition(name, definitions)) {
    throw new CommandError(
      `${getDefinitionPath('automation', name)} does not exist in the definitions directory`,
    );
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
