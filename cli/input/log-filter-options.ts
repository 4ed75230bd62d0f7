import type { Command } from 'commander';
import type { LogFilter } from '../../operations/log/list-rows.ts';
import type { Outcome } from '../../schema/delivery.ts';
import { parseOutcome, parseRunState, parseTime } from './options.ts';

/** The options that choose deliveries or runs, by commander's names. */
export interface LogFilterOptions extends Omit<LogFilter, 'sinceMs' | 'untilMs'> {
  readonly since?: number;
  readonly until?: number;
}

/** Adds the options that choose deliveries. */
export function addDeliveryFilterOptions(command: Command): Command {
  return addSharedOptions(
    command
      .option('--webhook <name>', 'only deliveries of this webhook (name or UID)')
      .option(
        '--outcome <label>',
        'only deliveries with this outcome; several: repeat it, or use commas',
        addOutcomes,
      ),
  );
}

/** Adds the outcomes of one `--outcome` to those before it. */
function addOutcomes(text: string, before: readonly Outcome[] = []): readonly Outcome[] {
  return [...before, ...text.split(',').map(label => parseOutcome(label.trim()))];
}

/** Adds the options that `deliveries list` and the commands on runs share. */
export function addRunFilterOptions(command: Command): Command {
  return addSharedOptions(
    command
      .option('--automation <name>', 'only runs of this automation')
      .option('--state <state>', 'only runs in this state', parseRunState)
      .option('--webhook <name>', 'only runs for deliveries of this webhook (name or UID)'),
  );
}

function addSharedOptions(command: Command): Command {
  return command
    .option('--event <type>', 'only of this event type: an event header, or type or event in the payload')
    .option('--search <text>', 'only with this text in the stored payload')
    .option('--since <time>', 'only from this time on: 2h, 7d, 2026-01-31 or RFC 3339', text =>
      parseTime(text),
    )
    .option('--until <time>', 'only before this time', text => parseTime(text));
}

/** Whether the options choose anything. */
export function isFiltered(options: LogFilterOptions): boolean {
  return Object.values(toLogFilter(options)).some(value => value !== undefined);
}

/** Converts the options to a filter. */
export function toLogFilter({ since, until, ...options }: LogFilterOptions): LogFilter {
  const { webhook, outcome, automation, state, event, search } = options;
  return { webhook, outcome, automation, state, event, search, sinceMs: since, untilMs: until };
}
