import { setTimeout as wait } from 'node:timers/promises';
import { firstSortableId } from '../../../schema/ids.ts';
import { listJsonSpellings } from '../../../schema/text/json-text.ts';
import {
  beyondAll,
  boundRowsMax,
  hasContent,
  SearchSteps,
  type SeqRange,
  searchStepRows,
  timeSkewMs,
} from '../../delivery-log/search-steps.ts';
import type { EventRecord } from '../../delivery-log/stored-rows.ts';
import type { DeliveryFilter, Found, RunFilter, SearchPart } from '../../ports/delivery-log.ts';
import { DeliveryLogError } from '../../ports/store-error.ts';

/** @limit Wait for transactions that record rows while somebody asks for the rows after another one, in ms: they take some ms. */
const settleMs = 2_000;
/** Time between two looks whether such transactions have ended. */
const settleLookMs = 10;

export type Select = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Adds a value to a statement, and returns its name there. */
type Bind = (value: unknown) => string;

/** A table of the log, and how rows are found in it. */
export interface PostgresTable<Filter extends DeliveryFilter | RunFilter, Row> {
  readonly name: 'deliveries' | 'runs';
  /** The name of the row's delivery in conditions: the row itself is `own`. */
  readonly event: 'own' | 'event';
  /** Joins that delivery. */
  readonly join: string;
  /** The column that has a row's time. */
  readonly time: string;
  /** The parts of a filter for which a search may look at many rows until it finds one. */
  readonly looksFor: readonly (keyof Filter)[];
  /** Conditions for the parts of a filter that only this table has. */
  readonly conditions: (filter: Filter, bind: Bind) => readonly string[];
  readonly readRows: (factory: string, seqs: readonly number[], order: 'ASC' | 'DESC') => Promise<Row[]>;
}

/**
 * Prepares a search in a table. If it only needs columns, it is one statement. Otherwise it looks at the rows of the
 * factory step by step, because nobody knows how many of them match.
 */
export function preparePostgresSearch<Filter extends DeliveryFilter | RunFilter, Row>(
  select: Select,
  table: PostgresTable<Filter, Row>,
): (wanted: Filter & SearchPart, isTimed: boolean) => Promise<Found<Row>> {
  const readSeq = async (id: string, otherwise: number) => {
    const text = `SELECT seq FROM hookmill.${table.name} WHERE id = $1`;
    return (await select<{ seq: number }>(text, [id]))[0]?.seq ?? otherwise;
  };
  return async ({ before, after, limit, ...rest }, isTimed) => {
    const filter = rest as unknown as Filter;
    const steps = new SearchSteps(limit, isTimed);
    const isOldestFirst = after !== undefined;
    let { low, high } = await findBounds(select, table.name, filter);
    if (after) low = Math.max(low, await readSeq(after, beyondAll));
    if (before !== undefined) high = Math.min(high, await readSeq(before, 0));
    if (isOldestFirst) high = Math.min(high, (await settle(select, table.name)) + 1);
    const isStepwise = table.looksFor.some(part => filter[part] !== undefined);
    const size = isStepwise ? searchStepRows : limit + 1;
    while (!steps.isOver) {
      const range = { low, high, limit: size, isOldestFirst };
      const seqs = await readSeqs(
        select,
        table,
        isStepwise ? ({ factory: filter.factory } as Filter) : filter,
        range,
      );
      const last = seqs.at(-1);
      const looked = { ...range, low: Math.min(...seqs) - 1, high: Math.max(...seqs) + 1 };
      const found = isStepwise && last !== undefined ? await readSeqs(select, table, filter, looked) : seqs;
      if (isOldestFirst) low = last ?? low;
      else high = last ?? high;
      steps.add({ found, searched: seqs.length, last, isEnd: seqs.length < size });
    }
    const text = `SELECT id FROM hookmill.${table.name} WHERE factory = $1 AND seq = $2`;
    const [lastRow] =
      steps.last === undefined ? [] : await select<{ id: string }>(text, [filter.factory, steps.last]);
    return {
      rows: await table.readRows(filter.factory, steps.seqs, isOldestFirst ? 'ASC' : 'DESC'),
      searched: steps.searched,
      isEnd: steps.isEnd,
      ...(lastRow && { lastId: lastRow.id }),
    };
  };
}

/** Finds the first and the last row of a time range. IDs begin with their time. */
async function findBounds(
  select: Select,
  name: 'deliveries' | 'runs',
  { factory, sinceMs, untilMs }: DeliveryFilter | RunFilter,
): Promise<Pick<SeqRange, 'low' | 'high'>> {
  const prefix = name === 'runs' ? 'run' : 'dlv';
  const find = async (comparison: '<' | '>=', order: 'ASC' | 'DESC', atMs: number) => {
    const text = `
      SELECT seq FROM (
        SELECT id, seq, factory FROM hookmill.${name} WHERE id ${comparison} $1 ORDER BY id ${order} LIMIT ${boundRowsMax}
      ) AS near WHERE factory = $2 ORDER BY id ${order} LIMIT 1`;
    return (await select<{ seq: number }>(text, [firstSortableId(prefix, atMs), factory]))[0]?.seq;
  };
  const low = sinceMs === undefined ? undefined : await find('<', 'DESC', sinceMs - timeSkewMs);
  const high = untilMs === undefined ? undefined : await find('>=', 'ASC', untilMs + timeSkewMs);
  return { low: low ?? 0, high: high ?? beyondAll };
}

/**
 * The `seq` up to which no row of a table can appear any more. Transactions take numbers before they commit, and commit in
 * another order. Whoever took a number holds a lock on the table until its rows are visible: so once all that hold one
 * after the last number was read have ended, every row up to that number is visible. Fails with `full` if one does not end.
 */
export async function settle(select: Select, name: 'deliveries' | 'runs'): Promise<number> {
  const sequence = name === 'runs' ? 'run_seq' : 'delivery_seq';
  // Before the first number is taken, the sequence already shows it.
  const text = `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS last FROM hookmill.${sequence}`;
  const [row] = await select<{ last: number }>(text, []);
  const listWriters = async () =>
    (await select<{ id: string }>(selectWriters, [`hookmill.${name}`])).map(({ id }) => id);
  const untilMs = performance.now() + settleMs;
  let writers = await listWriters();
  while (writers.length > 0) {
    if (performance.now() > untilMs) {
      throw new DeliveryLogError('full', 'a transaction that records deliveries takes long; try again');
    }
    await wait(settleLookMs);
    const current = new Set(await listWriters());
    writers = writers.filter(id => current.has(id));
  }
  return row?.last ?? 0;
}

const selectWriters = `
  SELECT virtualtransaction AS id FROM pg_locks
  WHERE relation = $1::regclass AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Reads the first rows of a range that a filter lets through, by their `seq`. */
async function readSeqs<Filter extends DeliveryFilter | RunFilter, Row>(
  select: Select,
  { name, time, event, join, conditions }: PostgresTable<Filter, Row>,
  filter: Filter,
  { low, high, limit, isOldestFirst }: SeqRange,
): Promise<readonly number[]> {
  const values: unknown[] = [];
  const bind: Bind = value => `$${values.push(value)}`;
  const { factory, webhook, uid, sinceMs, untilMs, content } = filter;
  const { eventType, text } = content ?? {};
  const payload = `${event}.payload`;
  const either = [
    ...(webhook === undefined ? [] : [`own.webhook = ${bind(webhook)}`]),
    ...(uid === undefined ? [] : [`${event}.uid = ${bind(uid)}`]),
  ];
  const all = [
    `own.factory = ${bind(factory)} AND own.seq > ${bind(low)} AND own.seq < ${bind(high)}`,
    ...(either.length === 0 ? [] : [`(${either.join(' OR ')})`]),
    ...(sinceMs === undefined ? [] : [`own.${time} >= ${bind(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`own.${time} < ${bind(untilMs)}`]),
    ...conditions(filter, bind),
    ...(content ? [`${payload} IS NOT NULL`] : []),
    ...containsAny(text, [payload], event, bind),
    ...containsAny(eventType, [payload, `convert_to(${event}.headers, 'UTF8')`], event, bind),
  ];
  const isJoined = either.length > 0 || content !== undefined;
  const columns = [
    'own.seq',
    ...(content ? ['payload', 'form', 'headers'].map(name => `${event}.${name}`) : []),
  ];
  const rows = await select<{ seq: number } & Partial<EventRecord>>(
    `SELECT ${columns.join(', ')} FROM hookmill.${name} AS own ${isJoined ? join : ''} WHERE ${all.join(' AND ')}
    ORDER BY own.seq ${isOldestFirst ? 'ASC' : 'DESC'} LIMIT ${bind(limit)}`,
    values,
  );
  return rows.filter(row => !content || hasContent(content, row)).map(({ seq }) => seq);
}

function containsAny(
  sought: string | undefined,
  columns: readonly string[],
  event: string,
  bind: Bind,
): readonly string[] {
  if (sought === undefined) return [];
  const spellings = listJsonSpellings(sought).map(spelling => bind(Buffer.from(spelling)));
  const tests = spellings.flatMap(spelling =>
    columns.map(column => `position(${spelling}::bytea IN ${column}) > 0`),
  );
  // Each form is read, because it spells characters in other ways.
  return [`(${event}.form IS NOT NULL OR ${tests.join(' OR ')})`];
}
