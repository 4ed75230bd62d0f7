import { type Command, Option } from 'commander';
import type { LogFilter } from '../../operations/log/list-rows.ts';
import { type Outcome, outcomes, type RunState, readOutcomes, runStates } from '../../schema/delivery.ts';
import { type EventHeaders, headerNamePattern } from '../../schema/headers.ts';
import { didYouMean, joinWithOr } from '../../schema/text/suggestion.ts';
import { toMs } from '../../schema/time-units.ts';
import { UsageError } from '../exit-status.ts';

/** Names and values of headers, in the order in which they were given. */
export type HeaderLines = readonly (readonly [string, string])[];

/** Creates the repeatable option `--header "Name: value"`. */
export function createHeaderOption(description: string): Option {
  return new Option('--header <header>', description).argParser(
    (line: string, lines: HeaderLines | undefined): HeaderLines => [...(lines ?? []), parseHeaderLine(line)],
  );
}

function parseHeaderLine(line: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*?)\s*$/u.exec(line) ?? [];
  if (headerNamePattern.test(name) && !/\p{Cc}/u.test(value)) return [name, value];
  throw new UsageError(`"${line}" is not a header; write it as in "X-GitHub-Event: push"`);
}

/** Joins header lines of the same name into one value, as the ingress does. */
export function toEventHeaders(lines: HeaderLines = []): EventHeaders {
  const grouped = Map.groupBy(lines, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...grouped].map(([name, same]) => [name, same.map(([, value]) => value).join(', ')]),
  );
}

/** Creates an option that its environment variable can set too: `HOOKMILL_BASE_URL` for `--base-url`. */
export function createEnvOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`HOOKMILL_${option.name().toUpperCase().replaceAll('-', '_')}`);
}

/** Parses the value of `--limit`. */
export const parseLimit = parseCount('--limit');

/** Creates the parser of an option whose value is a number of things. */
export function parseCount(option: string, max = 999_999): (text: string) => number {
  return text => {
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max) return Number(text);
    throw new UsageError(`${option} must be a whole number from 1–${max}, not "${text}"`);
  };
}

function parseOutcome(text: string): Outcome {
  const outcome = outcomes.find(outcome => outcome === text);
  if (outcome) return outcome;
  throw refuseChoice('outcome', text, outcomes);
}

/** Parses the value of `--state`. */
export function parseRunState(text: string): RunState {
  const state = runStates.find(state => state === text);
  if (state) return state;
  throw refuseChoice('run state', text, runStates);
}

function refuseChoice(what: string, text: string, choices: readonly string[]): UsageError {
  const near = didYouMean(text, choices);
  const suggestion = near === undefined ? '' : ` (${near})`;
  return new UsageError(`unknown ${what} "${text}"${suggestion}; use ${joinWithOr(choices)}`);
}

const relative = /^(?:\d{1,6}[smhdw])+$/;
// ISO 8601 as RFC 3339 has it; without an offset, it is a local time.
const absolute = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[+-]\d\d:\d\d)?)?$/;

/** Parses a span of time to ms, such as `90s`, `1h30m` or `7d`; undefined for any other text. */
export function parseSpanMs(text: string): number | undefined {
  if (!relative.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)(\w)/g)];
  return parts.reduce((sumMs, [, count = '', unit = '']) => sumMs + toMs(count, unit), 0);
}

/** Parses the same, above zero. Fails with a UsageError for any other text. */
export function requireSpanMs(text: string): number {
  const ms = parseSpanMs(text);
  if (ms) return ms;
  throw new UsageError(`"${text}" is not a time; write it as in 30m, 2h or 7d`);
}

/**
 * Parses a time to ms: a span before now (`90s`, `30m`, `1h30m`, `7d`), a time of RFC 3339 (`2026-01-31T14:05Z`), or a
 * local date or time.
 */
export function parseTime(text: string, nowMs = Date.now()): number {
  const spanMs = parseSpanMs(text);
  if (spanMs !== undefined) return nowMs - spanMs;
  const [, year, month, day, time = '00:00', offset = ''] = absolute.exec(text) ?? [];
  const atMs = Date.parse(`${year}-${month}-${day}T${time}${offset.toUpperCase()}`);
  // JavaScript takes 31 April for 1 May.
  const exists =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!Number.isNaN(atMs) && exists) return atMs;
  throw new UsageError(`"${text}" is not a time; write it as in 2h, 7d, 2026-01-31 or 2026-01-31T14:05Z`);
}

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
  return [...before, ...readOutcomes(text).map(parseOutcome)];
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

export interface RepositoryOptions {
  readonly repository?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly interval?: string;
  readonly credentialSecret?: string;
  readonly credentialUsername?: string;
}

/** Adds the options for the repository that a factory follows, each with its HOOKMILL_ variable. */
export function addRepositoryOptions(command: Command): Command {
  return command
    .addOption(createEnvOption('--repository <url>', 'repository that the factory follows'))
    .addOption(createEnvOption('--branch <name>', 'its production branch (default: main)'))
    .addOption(createEnvOption('--path <folder>', 'folder of the definitions in it (default: its root)'))
    .addOption(createEnvOption('--interval <time>', 'time between two checks of the branch (default: 30s)'))
    .addOption(createEnvOption('--credential-secret <name>', 'team secret for fetching over HTTPS'))
    .addOption(
      createEnvOption('--credential-username <name>', 'user name for that secret (default: x-access-token)'),
    );
}
