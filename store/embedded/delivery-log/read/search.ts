import { firstSortableId } from '../../../../schema/ids.ts';
import { listJsonSpellings } from '../../../../schema/text/json-text.ts';
import {
  beyondAll,
  boundRowsMax,
  hasContent,
  SearchSteps,
  type SeqRange,
  searchStepRows,
  timeSkewMs,
} from '../../../delivery-log/search-steps.ts';
import type { EventRecord } from '../../../delivery-log/stored-rows.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { DeliveryFilter, Found, RunFilter, SearchPart } from '../../../ports/delivery-log.ts';
import { mergeFirst } from '../sql/keys.ts';

/** A part of a table that an index has in the order of commits. Returns the first rows of a range, by their `seq`. */
export type SeqList = (range: SeqRange) => readonly number[];

/** A table of the log, and how rows are found in it. */
export interface SqliteTable<Filter extends DeliveryFilter | RunFilter, Row> {
  readonly name: 'deliveries' | 'runs';
  /** Selects from the table, joined with `deliveries` and `series`. */
  readonly from: string;
  /** The column that has a row's time. */
  readonly time: string;
  /** The lists that together have all rows that the filter may let through. */
  readonly openLists: (filter: Filter) => readonly SeqList[];
  /** Conditions for what the lists do not check, with the filter's values by their names. */
  readonly conditions: (filter: Filter) => readonly string[];
  /** Newest first. */
  readonly readRows: (seqs: readonly number[]) => Row[];
}

/** Searches that are not timed go on to their end. */
type Search<Filter, Row> = (wanted: Filter & SearchPart, isTimed: boolean) => Found<Row>;

// A search merges the lists of its filter, as far as indexes go, and looks at the rows for the rest. So a filter that needs
// only indexes costs one look into them for each list, whatever it finds.

/** Prepares searches in a table. */
export function prepareSqliteSearch<Filter extends DeliveryFilter | RunFilter, Row>(
  database: SqliteDatabase,
  table: SqliteTable<Filter, Row>,
): Search<Filter, Row> {
  const { name } = table;
  const selectSeq = database.prepareColumn<[string], number>(`SELECT seq FROM ${name} WHERE id = ?`);
  const selectId = database.prepareColumn<[number], string>(`SELECT id FROM ${name} WHERE seq = ?`);
  const findBounds = prepareBounds(database, table);

  return ({ before, after, limit, ...rest }, isTimed) => {
    const filter = rest as unknown as Filter;
    const steps = new SearchSteps(limit, isTimed);
    const isOldestFirst = after !== undefined;
    const lists = table.openLists(filter);
    const select = prepareMatches(database, table, filter);
    const bounds = findBounds(filter);
    const seqOf = (id: string, otherwise: number) => selectSeq.get(id) ?? otherwise;
    let low = after ? Math.max(bounds.low, seqOf(after, beyondAll)) : bounds.low;
    let high = before === undefined ? bounds.high : Math.min(bounds.high, seqOf(before, 0));
    const size = select ? searchStepRows : limit + 1;
    while (!steps.isOver) {
      const compare = isOldestFirst ? (a: number, b: number) => a - b : (a: number, b: number) => b - a;
      const seqs = mergeFirst<SeqList, number>(lists, size, compare, (list, end) =>
        list({
          low,
          high,
          limit: size,
          isOldestFirst,
          ...(end && (isOldestFirst ? { high: end } : { low: end })),
        }),
      );
      const last = seqs.at(-1);
      steps.add({ found: select?.(seqs) ?? seqs, searched: seqs.length, last, isEnd: seqs.length < size });
      if (isOldestFirst) low = last ?? low;
      else high = last ?? high;
    }
    const rows = table.readRows(steps.seqs);
    const lastId = steps.last && selectId.get(steps.last);
    return {
      rows: isOldestFirst ? rows.toReversed() : rows,
      searched: steps.searched,
      isEnd: steps.isEnd,
      ...(lastId && { lastId }),
    };
  };
}

/** Finds the first and the last row of a time range. IDs begin with their time. */
function prepareBounds<Filter extends DeliveryFilter | RunFilter, Row>(
  database: SqliteDatabase,
  { name, from }: SqliteTable<Filter, Row>,
) {
  const idPrefix = name === 'runs' ? 'run' : 'dlv';
  const prepare = (condition: string) =>
    database.prepareColumn<[string, string], number>(`
        SELECT seq FROM (
          SELECT ${name}.seq, series.factory ${from} WHERE ${name}.id ${condition} LIMIT ${boundRowsMax})
        WHERE factory = ? LIMIT 1`);
  const selectBefore = prepare(`< ? ORDER BY ${name}.id DESC`);
  const selectFrom = prepare(`>= ? ORDER BY ${name}.id`);
  return ({ factory, sinceMs, untilMs }: Filter) => ({
    low:
      (sinceMs !== undefined && selectBefore.get(firstSortableId(idPrefix, sinceMs - timeSkewMs), factory)) ||
      0,
    high:
      (untilMs !== undefined && selectFrom.get(firstSortableId(idPrefix, untilMs + timeSkewMs), factory)) ||
      beyondAll,
  });
}

/** Selects from rows, given by their `seq`, those that a filter lets through; undefined if it need not look at them. */
function prepareMatches<Filter extends DeliveryFilter | RunFilter, Row>(
  database: SqliteDatabase,
  { name, from, time, conditions }: SqliteTable<Filter, Row>,
  filter: Filter,
): ((seqs: readonly number[]) => readonly number[]) | undefined {
  const { content, ...values } = filter;
  const { eventType, text } = content ?? {};
  const eventTypes = spell('eventType', eventType);
  const texts = spell('text', text);
  const all = [
    ...(filter.sinceMs === undefined ? [] : [`${time} >= @sinceMs`]),
    ...(filter.untilMs === undefined ? [] : [`${time} < @untilMs`]),
    ...conditions(filter),
    ...(content ? ['payload IS NOT NULL'] : []),
    ...containsAny(eventTypes, ['payload', 'CAST(headers AS BLOB)']),
    ...containsAny(texts, ['payload']),
  ];
  if (all.length === 0) return undefined;
  const event = content ? ', payload, form, headers' : '';
  const select = database.prepare<[object], { seq: number } & Partial<EventRecord>>(`
    SELECT ${name}.seq${event} ${from}
    WHERE ${name}.seq IN (SELECT value FROM json_each(@seqs)) AND ${all.join(' AND ')}`);
  return seqs => {
    const matching = new Set<number>();
    // One by one, because payloads may be large.
    for (const row of select.iterate({ ...values, ...eventTypes, ...texts, seqs: JSON.stringify(seqs) })) {
      if (!content || hasContent(content, row)) matching.add(row.seq);
    }
    return seqs.filter(seq => matching.has(seq));
  };
}

/** The bytes of each spelling of a text, by the names of parameters. */
function spell(name: string, text: string | undefined): Readonly<Record<string, Uint8Array>> {
  const spellings = text === undefined ? [] : listJsonSpellings(text);
  return Object.fromEntries(spellings.map((spelling, index) => [name + index, Buffer.from(spelling)]));
}

function containsAny(parameters: object, columns: readonly string[]): readonly string[] {
  const tests = Object.keys(parameters).flatMap(name =>
    columns.map(column => `instr(${column}, @${name}) > 0`),
  );
  // A form is read for that, because it spells characters in other ways.
  return tests.length === 0 ? [] : [`(form IS NOT NULL OR ${tests.join(' OR ')})`];
}
