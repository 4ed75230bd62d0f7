import type { Command } from 'commander';
import { type Outcome, outcomes } from '../../schema/delivery.ts';
import { listOf } from '../../schema/suggestion.ts';
import type { LoggedDelivery } from '../../store/delivery-log.ts';
import { openDeliveryLogReader } from '../../store/delivery-log-reader.ts';
import { contextOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { printData } from '../output.ts';
import { printable } from '../printable.ts';
import { fieldList, table } from '../table.ts';

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
  log.close();
  if (!delivery) throw new CommandError(`there is no delivery ${id} in the log`);
  if (command.opts<{ payload?: true }>().payload) {
    if (!payload) throw new CommandError(`the payload of ${id} is not stored: it was ${delivery.outcome}`);
    process.stdout.write(payload);
    return;
  }
  const body = payload && Buffer.from(payload).toString('utf8');
  printData(context, { ...deliveryData(delivery), payload: body ?? null }, () =>
    body === undefined
      ? fieldList(fieldsOf(delivery))
      : `${fieldList(fieldsOf(delivery))}\n${pretty(body)}\n`,
  );
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

function limitOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CommandError(`--limit takes a whole number from 1, not "${text}"`, exitStatus.usage);
}
