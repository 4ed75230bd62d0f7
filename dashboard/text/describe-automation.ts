import type { RunControl } from '../../schema/definitions/automation-definition.ts';
import { parseFieldPath } from '../../schema/field-path.ts';
import type { PayloadFilter } from '../../schema/filters/clause.ts';
import type { HeaderFilter } from '../../schema/filters/header-filter.ts';
import {
  describeOperand,
  type ExaminedClause,
  examineClauses,
  examineHeaders,
} from '../../schema/filters/payload-filter-explain.ts';
import { formatRunTime } from './format-time.ts';

interface Filters {
  readonly payload?: object | undefined;
  readonly headers?: object | undefined;
}

/** The names of fields whose value says what happened, so that the name itself says nothing. */
const eventNames = /^(?:type|event|event_type|eventtype)$/i;

/** Says in some words on which deliveries a trigger starts: `pull_request opened, synchronize`; empty for all. */
export function describeFilters({ payload, headers }: Filters): string {
  const fromHeaders = examineHeaders((headers ?? {}) as HeaderFilter, {});
  const fromPayload = examineClauses(payload as PayloadFilter | undefined, undefined);
  const isNamed = fromHeaders.some(({ clause }) => clause.operator === 'in');
  const events = fromHeaders.map(clause => describeClause(clause, clause.clause.operator === 'in'));
  // Of nested fields, only an object without any says something by itself.
  const said = fromPayload.filter(
    ({ clause }) => clause.operator !== 'object' || Object.keys(clause.fields).length === 0,
  );
  const fields = said.map(clause => {
    const name = clause.keys.at(-1) ?? '';
    return describeClause(clause, eventNames.test(name) || (isNamed && name === 'action'));
  });
  return [events.join(', '), fields.join(', ')].filter(Boolean).join(' ');
}

function describeClause({ keys, clause }: ExaminedClause, isEvent: boolean): string {
  const name = keys.at(-1) ?? '';
  switch (clause.operator) {
    case 'exists':
      return `${clause.expected ? 'has' : 'without'} ${name}`;
    case '$compare':
      return `${name} ${describeOperand(clause)}`;
    case 'object':
      return `object ${name}`;
    case '$none':
      return `no ${name} with ${describeFilters({ payload: clause.fields }) || 'fields'}`;
    default: {
      const values = clause.values.map(String).join(', ');
      const operator = { in: '', not_in: 'not ', $like: 'like ', $not_like: 'not like ' }[clause.operator];
      return isEvent && operator === '' ? values : `${name} ${operator}${values}`;
    }
  }
}

/** Says in some words how runs are executed: `1 at a time per service, 3 attempts`; empty if the operator says it all. */
export function describeRuns(keys: RunControl): string {
  const {
    debounce,
    order,
    onFailure,
    onlyLatest,
    concurrency,
    concurrencyKey,
    runsPerHour,
    attempts,
    timeLimit,
  } = keys;
  const per = (path: string | undefined) => (path === undefined ? '' : ` per ${lastName(path)}`);
  const parts = [
    debounce && `after ${formatRunTime(debounce.for)} of silence${per(debounce.key)}`,
    order &&
      `in order of ${lastName(order)}${onFailure === 'hold' ? ', holds on failure' : ''}${onlyLatest ? ', only the latest' : ''}`,
    concurrency && `${concurrency === 1 ? 'one' : concurrency} at a time${per(concurrencyKey)}`,
    runsPerHour && `at most ${runsPerHour} an hour`,
    attempts && (attempts === 1 ? '1 attempt' : `${attempts} attempts`),
    timeLimit && `${formatRunTime(timeLimit)} an attempt`,
  ];
  const text = parts.filter(Boolean).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a path is called in a sentence: the field, or what it belongs to if the field is an ID. */
function lastName(path: string): string {
  const names = (parseFieldPath(path) ?? [path]).map(String);
  const last = names.at(-1) ?? path;
  return /^(?:id|number|key|name|full_name|uuid)$/.test(last) ? (names.at(-2) ?? last) : last;
}
