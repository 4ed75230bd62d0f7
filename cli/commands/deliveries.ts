import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { AppliedState } from '../../schema/applied-state.ts';
import { type AutomationVerdict, judgeAutomation } from '../../schema/automation-verdict.ts';
import { parseSnapshot, snapshotOf } from '../../schema/automations-snapshot.ts';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import { sortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import { listOf } from '../../schema/suggestion.ts';
import { readAppliedState } from '../../store/applied-state-store.ts';
import type { LoggedDelivery } from '../../store/delivery-log.ts';
import { openDeliveryLog } from '../../store/delivery-log-client.ts';
import { openDeliveryLogReader } from '../../store/delivery-log-reader.ts';
import { contextOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { limitOf } from '../limit-option.ts';
import { printData } from '../output.ts';
import { printable } from '../printable.ts';
import { renderVerdict } from '../render-verdict.ts';
import { fieldList, table } from '../table.ts';
import { findAutomation } from './automations.ts';
import { runData, runsTable } from './runs.ts';

interface ListOptions {
  readonly webhook?: string;
  readonly outcome?: string;
  readonly limit: string;
}

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const { webhook, outcome, limit } = command.opts<ListOptions>();
  const filter = { factory: context.factory, webhook, outcome: outcomeOf(outcome), limit: limitOf(limit) };
  const log = openDeliveryLogReader(context.home.deliveryLogFile);
  const deliveries = log.listDeliveries(filter);
  log.close();
  printData(context, deliveries.map(deliveryData), () => {
    if (deliveries.length === 0) return 'No deliveries.\n';
    const rows = deliveries.map(({ id, webhook, atMs, size, outcome, reason, duplicateOf }) => {
      return [
        id,
        webhook,
        timeOf(atMs),
        String(size),
        outcome,
        reason ?? (duplicateOf ? `of ${duplicateOf}` : ''),
      ];
    });
    return table(['ID', 'WEBHOOK', 'TIME', 'SIZE', 'OUTCOME', ''], rows);
  });
}

export async function show(id: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const log = openDeliveryLogReader(context.home.deliveryLogFile);
  const delivery = log.findDelivery(id);
  const payload = log.readPayload(id);
  const snapshot = delivery?.snapshot && log.readSnapshot(delivery.snapshot);
  const runs = log.runsOfDelivery(id);
  log.close();
  if (!delivery) throw new CommandError(`there is no delivery ${id} in the log`);
  if (command.opts<{ payload?: true }>().payload) {
    if (!payload) throw new CommandError(`the payload of ${id} is not stored: it was ${delivery.outcome}`);
    process.stdout.write(payload);
    return;
  }
  const body = payload && Buffer.from(payload).toString('utf8');
  const evaluation =
    snapshot && body !== undefined ? evaluationOf(parseSnapshot(snapshot), delivery.uid, body) : null;
  const data = { ...deliveryData(delivery), payload: body ?? null, evaluation, runs: runs.map(runData) };
  printData(context, data, () =>
    [
      fieldList(fieldsOf(delivery)),
      renderEvaluation(delivery, evaluation),
      runs.length > 0 ? `\n${runsTable(runs)}` : '',
      body === undefined ? '' : `\n${pretty(body)}\n`,
    ].join(''),
  );
}

interface ReplayOptions {
  readonly automation?: string;
}

/** New runs from a stored payload, under the automations that are applied now. */
export async function replay(id: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const { automation: only } = command.opts<ReplayOptions>();
  const reader = openDeliveryLogReader(context.home.deliveryLogFile);
  const delivery = reader.findDelivery(id);
  const payload = reader.readPayload(id);
  reader.close();
  if (!delivery) throw new CommandError(`there is no delivery ${id} in the log`);
  if (!payload) throw new CommandError(`the payload of ${id} is not stored: it was ${delivery.outcome}`);

  const state = await readAppliedState(context.home, delivery.factory);
  const evaluation = evaluationOf(state, delivery.uid, Buffer.from(payload).toString('utf8'));
  if (only) findAutomation(only, delivery, state.automations);
  const chosen = evaluation.automations.filter(({ automation }) => !only || automation === only);
  const starting = chosen.filter(({ wouldTrigger }) => wouldTrigger).map(({ automation }) => automation);
  if (starting.length === 0) {
    process.stderr.write(chosen.map(renderVerdict).join(''));
    const what = only ? `the automation ${only} does not match` : 'no automation matches';
    throw new CommandError(`nothing to replay: ${what} the delivery ${id}`);
  }
  const nowMs = Date.now();
  const runs = starting.map(automation => ({
    id: sortableId('run', nowMs, randomBytes(sortableIdRandomBytes)),
    automation,
  }));
  const log = await openDeliveryLog(context.home.deliveryLogFile);
  try {
    await log.replay({ deliveryId: id, runs, appliedState: snapshotOf(state), nowMs });
  } finally {
    await log.close();
  }
  printData(context, runs, () =>
    table(
      ['RUN', 'AUTOMATION'],
      runs.map(run => [run.id, run.automation]),
    ),
  );
}

interface Evaluation {
  /** Of the applied state that was in force. */
  readonly serial: number;
  /** Automations with a trigger on the delivery's webhook. */
  readonly automations: readonly AutomationVerdict[];
  /** How many others there were. */
  readonly others: number;
}

/** What each automation made of a delivery, judged again exactly as on arrival. */
function evaluationOf(
  { serial, automations }: Pick<AppliedState, 'serial' | 'automations'>,
  uid: string,
  body: string,
): Evaluation {
  const payload: unknown = JSON.parse(body);
  const considered = automations.filter(({ triggers }) =>
    triggers.some(({ filter }) => filter.webhook_ids.includes(uid)),
  );
  return {
    serial,
    automations: considered.map(automation => judgeAutomation(automation, { webhookUid: uid, payload })),
    others: automations.length - considered.length,
  };
}

function renderEvaluation(delivery: LoggedDelivery, evaluation: Evaluation | null): string {
  if (delivery.outcome === 'Duplicate')
    return `\nA duplicate starts nothing; \`hookmill deliveries show ${delivery.duplicateOf}\` explains the original.\n`;
  if (delivery.outcome === 'Handshake')
    return '\nA handshake starts nothing: the provider asked whether this URL is meant to receive.\n';
  if (delivery.outcome !== 'Accepted') return '\nRejected before any automation was looked at.\n';
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

function deliveryData(delivery: LoggedDelivery) {
  const {
    id,
    webhook,
    uid,
    atMs,
    size,
    outcome,
    identity,
    identitySource,
    authenticatedBy,
    reason,
    duplicateOf,
  } = delivery;
  const at = timeOf(atMs);
  return {
    id,
    webhook,
    uid,
    at,
    size,
    outcome,
    identity: identity ?? null,
    identitySource,
    authenticatedBy,
    reason,
    duplicateOf,
  };
}

function fieldsOf(delivery: LoggedDelivery): (readonly [string, string])[] {
  const {
    id,
    webhook,
    uid,
    atMs,
    size,
    outcome,
    identity,
    identitySource,
    authenticatedBy,
    reason,
    duplicateOf,
  } = delivery;
  const fields: (readonly [string, string | undefined])[] = [
    ['id', id],
    ['webhook', `${webhook} (${uid})`],
    ['time', timeOf(atMs)],
    ['size', `${size} bytes`],
    ['outcome', outcome],
    ['authenticated by', authenticatedBy],
    ['identity', identity && `${identity} (from ${identitySource})`],
    ['duplicate of', duplicateOf],
    ['reason', reason],
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

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

function outcomeOf(label: string | undefined): Outcome | undefined {
  if (label === undefined) return undefined;
  const outcome = outcomes.find(outcome => outcome.toLowerCase() === label.toLowerCase());
  if (outcome) return outcome;
  throw new CommandError(`there is no outcome "${label}"; use ${listOf(outcomes)}`, exitStatus.usage);
}
