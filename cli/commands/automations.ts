import { requireAutomation } from '../../operations/applied/require-applied.ts';
import type { AutomationView } from '../../operations/views/applied-views.ts';
import type { PauseView } from '../../operations/views/delivery-views.ts';
import { testedDeliveriesMax } from '../../schema/api/conventions.ts';
import { describeRunControl } from '../../schema/clients/describe-run-control.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import { printable } from '../../schema/text/printable.ts';
import { getDefinitionPath } from '../../sources/definitions.ts';
import type { Backend } from '../backend/backend.ts';
import { openBackend } from '../backend/open-backend.ts';
import { findPlace } from '../context.ts';
import { findDefinition, findDraft } from '../definitions/find-draft.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import type { Place } from '../global-options.ts';
import {
  createHeaderOption,
  type HeaderLines,
  parseCount,
  requireSpanMs,
  toEventHeaders,
} from '../input/options.ts';
import { readPayloadFile } from '../input/read-input.ts';
import { printData, printStatus } from '../output.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { renderFields } from '../render/render-table.ts';
import { renderTestedOnStored, renderVerdict } from '../render/render-verdict.ts';
import { type CliCommand, declareList } from './cli-command.ts';

interface RunOptions {
  readonly payload: string;
  readonly header?: HeaderLines;
  readonly evenIfDisabled?: true;
}

interface TestOptions {
  readonly delivery?: string;
  readonly payload?: string;
  readonly fixtures?: true;
  readonly last?: number;
  readonly header?: HeaderLines;
}

/** Declares `hookmill automations`. */
export function declareAutomations(command: CliCommand): void {
  command
    .explain(`show applied automations, test their filters, try their prompts, and pause them

Examples:
  hookmill automations list
  hookmill automations test triage --payload event.json`)
    .subcommands({ list, show, test, run, pause, resume });
}

const list = declareList({
  description: 'list the applied automations and their webhooks',
  read: async command => {
    const { backend } = await openBackend(command);
    return readAutomations(backend);
  },
  empty: 'No automations are applied.',
  heading: ['NAME', 'ENABLED', 'WEBHOOKS'],
  toCells: ({ name, enabled, runner = defaultRunner, triggers, paused }) => {
    const webhooks = triggers.map(({ webhook, uid, byName }) => webhook ?? `${byName ?? uid} (unknown)`);
    const on = runner === defaultRunner ? '' : `, on ${runner}`;
    const note = paused ? `, ${describePause(paused)}` : '';
    return [name, `${enabled ? 'yes' : 'no'}${on}${note}`, webhooks.join(', ')];
  },
});

type Paused = Omit<PauseView, 'automation'>;

type ListedAutomation = AutomationView & { readonly paused?: Paused };

/** Reads the applied automations, each with its pause if it is paused. */
async function readAutomations({ call }: Pick<Backend, 'call'>): Promise<ListedAutomation[]> {
  const { automations } = await call('listAutomations');
  const { pauses } = await call('listPauses');
  const pauseOf = new Map(pauses.map(({ automation, ...paused }) => [automation, paused]));
  return automations.map(automation => {
    const paused = pauseOf.get(automation.name);
    return { ...automation, ...(paused && { paused }) };
  });
}

function describePause({ until, by }: Paused): string {
  return `paused by ${by}${until === null ? '' : ` until ${until}`}`;
}

function pause(command: CliCommand): void {
  command
    .explain(`pause an automation: its runs are recorded, but none starts

Deliveries are accepted as before. Runs that are at work go on: \`hookmill runs cancel\` ends them. With another --for, a
pause ends at another time.

Examples:
  hookmill automations pause triage
  hookmill automations pause triage --for 2h`)
    .argument('<name>', 'name of the automation')
    .option('--for <time>', 'for how long, at most 30d; by default, until it is resumed', requireSpanMs)
    .action(async (name: string, { for: ms }: { readonly for?: number }, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      const body = ms === undefined ? {} : { seconds: Math.ceil(ms / 1_000) };
      const paused = await backend.call('pauseAutomation', { params: { automation: name }, body });
      printData(output, paused, () => '');
      printStatus(
        paused.until === null
          ? `${name} is paused. \`hookmill automations resume ${name}\` ends that.`
          : `${name} is paused until ${paused.until}.`,
      );
    });
}

function resume(command: CliCommand): void {
  command
    .explain(`end the pause of an automation: the runs that wait start, in their order

It also ends the pause of an automation that is no longer applied.

Examples:
  hookmill automations resume triage
  hookmill --server https://hookmill.example.com automations resume triage`)
    .argument('<name>', 'name of the automation')
    .action(async (name: string, _, command: CliCommand) => {
      const { backend } = await openBackend(command);
      await backend.call('resumeAutomation', { params: { automation: name }, body: {} });
      printStatus(`${name} is no longer paused.`);
    });
}

function show(command: CliCommand): void {
  command
    .explain(`show one applied automation

Examples:
  hookmill automations show triage
  hookmill automations show triage -o json`)
    .argument('<name>', 'name of the automation')
    .action(async (name: string, _, command: CliCommand) => {
      const { backend, output, factory } = await openBackend(command);
      const automations = await readAutomations(backend);
      const automation = requireAutomation({ factory, automations }, name);
      printData(output, automation, () => renderAutomation(automation));
    });
}

function renderAutomation(automation: ListedAutomation): string {
  const { name, enabled, prompt, triggers, paused } = automation;
  const triggerFields = triggers.map(({ webhook, uid, byName, payload, headers }): [string, string] => {
    const target =
      webhook ?? `unknown webhook (never starts a run):${byName === undefined ? '' : ` ${byName}`}`;
    const filters = [JSON.stringify(payload), headers && `headers ${JSON.stringify(headers)}`];
    return ['trigger', [target, uid, ...filters.filter(text => text !== undefined)].join(' ')];
  });
  const fields = renderFields([
    ['name', name],
    ['enabled', enabled ? 'yes' : 'no'],
    ...(paused ? [['paused', `since ${paused.at}, ${describePause(paused)}`] as const] : []),
    ...triggerFields,
    ...describeRunControl(automation).map(sentence => ['runs', sentence] as const),
  ]);
  const lines = prompt.split('\n').map(line => `  ${printable(line)}`);
  return `${fields}\n${lines.join('\n').trimEnd()}\n`;
}

function test(command: CliCommand): void {
  command
    .explain(`show whether a payload would start a run, with the result of each check and filter clause

Tests the definition in the definitions directory. If there is none, it tests the applied automation. With --last, shows which of
the newest deliveries match, which nearly, and the change of the filter that would repair that.

Examples:
  hookmill automations test triage --delivery dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill automations test triage --payload event.json --header 'X-GitHub-Event: push'
  hookmill automations test triage --fixtures
  hookmill automations test triage --last 50`)
    .argument('<name>', 'name of the automation')
    .option('--delivery <id>', 'test with a stored delivery')
    .option('--payload <file>', 'test with a file, as if it came to the webhook of the trigger')
    .addOption(createHeaderOption('a header of the payload, as in "X-GitHub-Event: push"; repeatable'))
    .option('--fixtures', 'test with automations/<name>.fixtures/*.json')
    .option(
      '--last <n>',
      'test with the last accepted deliveries of its webhooks, at most 200',
      parseCount('--last', testedDeliveriesMax),
    )
    .action(async (name: string, options: TestOptions, command: CliCommand) => {
      const { header, ...tested } = options;
      if (Object.keys(tested).length !== 1)
        throw new UsageError('use exactly one of --delivery, --payload, --fixtures and --last');
      if (header && !options.payload) throw new UsageError('--header requires --payload');
      if (options.fixtures) await testFixtures(name, await findPlace(command));
      else if (options.last !== undefined) await testLast(name, options.last, command);
      else await testDelivery(name, options, command);
    });
}

async function testLast(name: string, last: number, command: CliCommand): Promise<void> {
  const context = await openBackend(command);
  const draft = await findDraft(name, context);
  const tested = draft ? { triggers: [...draft.triggers] } : { automation: name };
  const answer = await context.backend.call('testOnStored', { body: { ...tested, last } });
  printData(context.output, answer, () => renderTestedOnStored(name, answer));
}

async function testDelivery(
  name: string,
  { delivery, payload, header }: TestOptions,
  command: CliCommand,
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
  const [{ runFixtures }, { readDirectory }, { parseDefinitions }] = await Promise.all([
    import('../../sources/fixtures.ts'),
    import('../../sources/directory-source.ts'),
    import('../../sources/parse-definitions.ts'),
  ]);
  const files = readDirectory(directory, { withFixtures: true });
  const definitions = parseDefinitions(files);
  if (!findDefinition(name, definitions)) {
    throw new CommandError(
      `${getDefinitionPath('automation', name)} does not exist in the definitions directory`,
    );
  }
  const results = runFixtures(files, definitions.automations).filter(({ automation }) => automation === name);
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

function run(command: CliCommand): void {
  command
    .explain(`start a run by hand, to try a prompt before it is applied

Starts a run of the definition in the definitions directory. If there is none, it runs the applied automation. Filters are
not checked. A disabled automation is refused, unless you add --even-if-disabled. The run is marked as manual, and its
payload counts as no delivery of a webhook.

Examples:
  hookmill automations run triage --payload event.json
  hookmill automations run triage --payload event.json --header 'X-GitHub-Event: push'`)
    .argument('<name>', 'name of the automation')
    .requiredOption('--payload <file>', 'the payload that the run gets')
    .addOption(createHeaderOption('a header of the payload, as in "X-GitHub-Event: push"; repeatable'))
    .option('--even-if-disabled', 'start the run although the automation is disabled')
    .action(
      async (name: string, { payload: file, header, evenIfDisabled }: RunOptions, command: CliCommand) => {
        const context = await openBackend(command);
        const { backend, output } = context;
        const draft = await findDraft(name, context);
        const { bytes: payload } = await readPayloadFile(file);
        const wanted = draft ? { draft: { ...draft, triggers: [...draft.triggers] } } : { automation: name };
        const headers = toEventHeaders(header);
        const event = { payload: payload.toString('utf8'), headers, evenIfDisabled };
        const started = await backend.call('runByHand', { body: { ...wanted, ...event } });
        printData(output, started, () => `${started.runId}\n`);
      },
    );
}
