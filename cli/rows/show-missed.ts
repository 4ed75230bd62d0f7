import { setTimeout as wait } from 'node:timers/promises';
import {
  listMissedEvents,
  type MissedClient,
  type MissedEvent,
  type MissedList,
  mayBeAsked,
  type Redelivery,
  redeliverAll,
} from '../../schema/clients/missed-events.ts';
import type { Backend } from '../backend/backend.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { parseTime } from '../input/options.ts';
import { askToConfirm } from '../input/read-input.ts';
import { printData, printStatus, showProgress } from '../output.ts';
import { renderTable } from '../render/render-table.ts';

export interface MissedOptions {
  readonly since: string;
  readonly all?: true;
  readonly redeliver?: true;
  readonly again?: true;
  readonly yes?: true;
}

/** Lists the events that a webhook has missed, or asks its provider to send them again. */
export async function showMissed(
  backend: Pick<Backend, 'call'>,
  uid: string,
  options: MissedOptions,
  output: 'text' | 'json',
): Promise<void> {
  const { again = false, all = false } = options;
  if (again && !options.redeliver) throw new UsageError('--again needs --redeliver');
  const since = new Date(parseTime(options.since)).toISOString();
  const params = { uid };
  const client: MissedClient = {
    list: body => backend.call('listMissed', { params, body }),
    redeliver: body => backend.call('redeliverMissed', { params, body }),
    wait: async ms => wait(ms),
    onProgress: showProgress,
  };
  const list = () => listMissedEvents(client, { since, all });
  const missed = await list();
  if (!options.redeliver) {
    printData(output, viewMissed(missed), () => renderMissed(missed));
    return printNotes(missed);
  }
  await confirm(
    missed.events.filter(event => mayBeAsked(event, again)),
    options,
    output,
  );
  const done = await redeliverAll({ client, again, list }, missed);
  printData(output, done, () => '');
  reportRedelivery(done);
}

async function confirm(
  events: readonly MissedEvent[],
  { yes }: MissedOptions,
  output: 'text' | 'json',
): Promise<void> {
  if (events.length === 0 || yes) return;
  const automations = [...new Set(events.flatMap(({ matches }) => matches))].sort();
  const runs =
    automations.length === 0 ? 'no automation' : `${automations.join(', ')}, as far as their filters match`;
  const message = `Do you want to ask the provider for ${countEvents(events.length)}? They start ${runs}.`;
  if (await askToConfirm(message, output)) return;
  throw new CommandError(
    `${countEvents(events.length)} to ask for, which start ${runs}; nothing was asked for: confirm at the prompt or use --yes`,
  );
}

function viewMissed({ events, read }: MissedList) {
  return { events: events.map(({ attemptIds: _, isInFlight: __, ...event }) => event), read };
}

function renderMissed({ events }: MissedList): string {
  if (events.length === 0) return 'No event is missed.\n';
  const rows = events.map(({ firstAt, event, action, attempts, status, matches, asked, eventId }) => [
    ...[firstAt, action === null ? event : `${event} ${action}`, String(attempts), String(status ?? 'none')],
    ...[matches.join(', ') || '-', asked?.at ?? '-', eventId],
  ]);
  return renderTable(['FIRST TRIED', 'EVENT', 'TRIES', 'ANSWER', 'COULD MATCH', 'ASKED FOR', 'ID'], rows);
}

function printNotes({ events, read }: MissedList): void {
  if (read.isShortened) {
    printStatus(
      `Only events since ${read.since} are compared: older deliveries may be gone from the delivery log.`,
    );
  }
  if (!read.isComplete) {
    printStatus(
      `Only the newest ${read.entries} entries of the provider's log were read: choose a later --since.`,
    );
  }
  if (events.length > 0) {
    printStatus(`${countEvents(events.length)} missed. With --redeliver, the provider is asked for them.`);
  }
}

function reportRedelivery({ accepted, missing, refused }: Redelivery): void {
  for (const [reason, ids] of Map.groupBy(refused, ({ reason }) => reason)) {
    printStatus(
      `${countEvents(ids.length)} not asked for: ${reason} (${ids[0]?.eventId}${ids.length > 1 ? ', …' : ''})`,
    );
  }
  if (missing.length > 0) {
    printStatus(
      `${countEvents(missing.length)} asked for, and not back (${missing[0]}${missing.length > 1 ? ', …' : ''}). \`hookmill why\` explains what came last; --again asks once more.`,
    );
  }
  printStatus(`${countEvents(accepted)} back.`);
  if (refused.length + missing.length > 0) throw new CommandError('');
}

function countEvents(count: number): string {
  return `${count} ${count === 1 ? 'event' : 'events'}`;
}
