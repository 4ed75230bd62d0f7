import { isOfEventType } from '../../schema/find-event-type.ts';
import { listJsonSpellings } from '../../schema/text/json-text.ts';
import type { ContentFilter } from '../ports/delivery-log.ts';
import { DeliveryLogError } from '../ports/store-error.ts';
import { type EventRecord, toEvent } from './stored-rows.ts';

/** @limit Time after which one search of the delivery log ends, in ms: it says how far it came, and others are answered before it goes on. */
const searchMs = 100;
/** @limit Rows that a search looks at in one step, after which it looks at the time: some ms with usual payloads. */
export const searchStepRows = 500;
/** @limit Difference between the order of commits and the order of times, in ms: a search begins and ends so much before and after the times that it is asked for. */
export const timeSkewMs = 10 * 60_000;
/** @limit Rows among which a search looks for one of its factory, to begin or end there: a factory with fewer of them has little to search. */
export const boundRowsMax = 2_000;

/** A `seq` after the `seq` of each row. */
export const beyondAll = Number.MAX_SAFE_INTEGER;

/** Rows between two others, by their `seq`. */
export interface SeqRange {
  /** After this row. */
  readonly low: number;
  /** Before this row. */
  readonly high: number;
  readonly limit: number;
  readonly isOldestFirst: boolean;
}

/** Rows are given by their `seq`. */
interface SearchStep {
  readonly found: readonly number[];
  /** The number of rows that were looked at. */
  readonly searched: number;
  /** The last of them. */
  readonly last: number | undefined;
  readonly isEnd: boolean;
}

/** Adds up the steps of a search until it is over: `limit` rows were found, nothing is left, or the time has passed. */
export class SearchSteps {
  readonly #limit: number;
  readonly #untilMs: number;
  /** The rows that were found. */
  readonly seqs: number[] = [];
  searched = 0;
  /** The row up to which everything was looked at. */
  last: number | undefined;
  isEnd = false;
  isOver = false;

  constructor(limit: number, isTimed: boolean) {
    if (!Number.isSafeInteger(limit))
      throw new DeliveryLogError('failed', 'the limit of a search must be an integer');
    this.#limit = limit;
    this.#untilMs = isTimed ? performance.now() + searchMs : Number.POSITIVE_INFINITY;
  }

  add({ found, searched, last, isEnd }: SearchStep): void {
    this.seqs.push(...found);
    this.searched += searched;
    this.last = last ?? this.last;
    const isFull = this.seqs.length > this.#limit;
    this.isEnd = isEnd && !isFull;
    this.isOver = isEnd || isFull || performance.now() >= this.#untilMs;
    if (!isFull) return;
    // The row that is one too many shows that this is not the end.
    this.seqs.length = this.#limit;
    this.last = this.seqs.at(-1);
  }
}

/**
 * Whether a stored event has the content that is sought. The statement that selected it has looked into its body, unless
 * that is a form, in which a text is spelled in other ways. Without a payload, it has none.
 */
export function hasContent({ eventType, text }: ContentFilter, row: Partial<EventRecord>): boolean {
  const { payload, headers, form = null } = row;
  if (!payload || !headers) return false;
  if (eventType === undefined && form === null) return true;
  const event = toEvent({ payload, headers, form });
  const json = Buffer.from(event?.payload ?? []).toString();
  return (
    (eventType === undefined || isOfEventType(eventType, event?.headers ?? {}, json)) &&
    (text === undefined || form === null || listJsonSpellings(text).some(spelling => json.includes(spelling)))
  );
}
