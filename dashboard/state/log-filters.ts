import { outcomes, type RunState, runStates } from '../../schema/delivery.ts';
import { toMs } from '../../schema/time-units.ts';
import type { LocationQuery } from './page-location.ts';

/** Which rows a list shows. The address has them under the same names, so that a link shows the same rows. */
export interface LogFilters {
  readonly webhook?: string;
  readonly automation?: string;
  /** Outcomes, separated by commas. */
  readonly outcome?: string;
  readonly state?: RunState;
  readonly event?: string;
  readonly search?: string;
  /** A duration before now, such as `1h`, or a time (RFC 3339). */
  readonly since?: string;
  readonly until?: string;
}

export type LogFilterName = keyof LogFilters;

const names = ['webhook', 'automation', 'outcome', 'state', 'event', 'search', 'since', 'until'] as const;
/** The outcomes that somebody should look at. */
export const exceptions = outcomes
  .filter(each => each === 'Duplicate' || each.startsWith('Rejected'))
  .join(',');

/** Longer texts are refused by the API. */
const textCharsMax = 256;

/** Reads the filters in an address. Leaves out what is no filter. */
export function readFilters(query: LocationQuery = {}): LogFilters {
  const given = names.flatMap(name => {
    const value = query[name];
    return value !== undefined && isValid(name, value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given) as LogFilters;
}

function isValid(name: LogFilterName, value: string): boolean {
  switch (name) {
    case 'outcome':
      return value.split(',').every(each => (outcomes as readonly string[]).includes(each));
    case 'state':
      return (runStates as readonly string[]).includes(value);
    case 'since':
      return parseDuration(value) !== undefined || isTime(value);
    case 'until':
      return isTime(value);
    default:
      return value !== '' && value.length <= textCharsMax;
  }
}

/** Sets or removes filters. An empty value removes one. */
export function changeFilters(
  filters: LogFilters,
  changed: Readonly<Partial<Record<LogFilterName, string>>>,
): LogFilters {
  return readFilters({ ...filters, ...changed });
}

/** Converts filters to parameters of the API, with durations before `nowMs`. */
export function toApiFilters({ since, ...filters }: LogFilters, nowMs: number): LogFilters {
  if (since === undefined) return filters;
  const durationMs = parseDuration(since);
  return {
    ...filters,
    since: durationMs === undefined ? since : new Date(nowMs - durationMs).toISOString(),
  };
}

/** Parses `15m`, `24h` or `7d`, in ms. */
function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : toMs(count, unit);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text) && !Number.isNaN(Date.parse(text));
}
