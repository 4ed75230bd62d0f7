import type { Command } from 'commander';
import { replayDelivery } from '../../../operations/deliveries.ts';
import type { DeliveryDetail, DeliveryView } from '../../../operations/views/delivery-views.ts';
import { type Outcome, outcomes } from '../../../schema/delivery.ts';
import { listOf } from '../../../schema/suggestion.ts';
import { backendOf } from '../../backend/backend.ts';
import { contextOf, openFactory } from '../../context.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { limitOf } from '../../input/limit-option.ts';
import { printData } from '../../output.ts';
import { printable } from '../../render/printable.ts';
import { describeCommit } from '../../render/render-reconcile.ts';
import { renderVerdict } from '../../render/render-verdict.ts';
import { fieldList, table } from '../../render/table.ts';
import { runsTable } from '../runs/show.ts';

interface ListOptions {
  readonly webhook?: string;
  readonly outcome?: string;
  readonly limit: string;
}

export async function list(command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const { webhook, outcome, limit } = command.opts<ListOptions>();
  const wanted = { webhook, outcome: outcomeOf(outcome), limit: limitOf(limit) };
  const deliveries = await backend.deliveries(wanted);
  printData({ output }, deliveries, () => {
    if (deliveries.length === 0) return 'No deliveries.\n';
    const rows = deliveries.map(({ id, webhook, at, size, outcome, reason, duplicateOf }) => {
      return [id, webhook, at, String(size), outcome, reason ?? (duplicateOf ? `of ${duplicateOf}` : '')];
    });
    return table(['ID', 'WEBHOOK', 'TIME', 'SIZE', 'OUTCOME', ''], rows);
  });
}

export async function show(id: string, command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const delivery = await backend.delivery(id);
  if (command.opts<{ payload?: true }>().payload) {
    const payload = await backend.payload(id);
    process.stdout.write(payload);
    return;
  }
  printData({ output }, delivery, () =>
    [
      fieldList(fieldsOf(delivery)),
      renderEvaluation(delivery),
      delivery.runs.length > 0 ? `\n${runsTable(delivery.runs)}` : '',
      delivery.payload === null ? '' : `\n${pretty(delivery.payload)}\n`,
    ].join(''),
  );
}

interface ReplayOptions {
  readonly automation?: string;
}

/** Starts new runs from a stored payload, under the automations that are applied now. */
export async function replay(id: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const { automation } = command.opts<ReplayOptions>();
  const runs = await replayDelivery(openFactory(context), id, automation);
  printData(context, runs, () =>
    table(
      ['RUN', 'AUTOMATION'],
      runs.map(run => [run.id, run.automation]),
    ),
  );
}

function renderEvaluation({ outcome, duplicateOf, evaluation }: DeliveryDetail): string {
  if (outcome === 'Duplicate')
    return `\nA duplicate starts nothing; \`hookmill deliveries show ${duplicateOf}\` explains the original.\n`;
  if (outcome === 'Handshake')
    return '\nA handshake starts nothing: the provider asked whether this URL is meant to receive.\n';
  if (outcome !== 'Accepted') return '\nRejected before any automation was looked at.\n';
  if (!evaluation) return '';
  const { serial, automations, others } = evaluation;
  const rest =
    others > 0
      ? `${others} other ${others === 1 ? 'automation listens' : 'automations listen'} to other webhooks.\n`
      : '';
  if (automations.length === 0)
    return `\nNo automation had a trigger on this webhook (serial ${serial}). ${rest}`.trimEnd().concat('\n');
  return `\nJudged by the automations of serial ${serial}:\n${automations.map(renderVerdict).join('')}${rest}`;
}

function fieldsOf(delivery: DeliveryView): (readonly [string, string])[] {
  const { id, webhook, uid, at, size, outcome, identity, identitySource, authenticatedBy } = delivery;
  const fields: (readonly [string, string | undefined])[] = [
    ['id', id],
    ['webhook', `${webhook} (${uid})`],
    ['time', at],
    ['size', `${size} bytes`],
    ['outcome', outcome],
    ['authenticated by', authenticatedBy],
    ['identity', identity === null ? undefined : `${identity} (from ${identitySource})`],
    ['duplicate of', delivery.duplicateOf],
    ['reason', delivery.reason],
    ['revision', delivery.commit === null ? undefined : describeCommit(delivery.commit)],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** For reading; `--payload` gives the bytes. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split('\n').map(printable).join('\n');
  } catch {
    // Nested deeper than the printer goes.
    return printable(body);
  }
}

function outcomeOf(label: string | undefined): Outcome | undefined {
  if (label === undefined) return undefined;
  const outcome = outcomes.find(outcome => outcome.toLowerCase() === label.toLowerCase());
  if (outcome) return outcome;
  throw new CommandError(`there is no outcome "${label}"; use ${listOf(outcomes)}`, exitStatus.usage);
}
