import { ApiFailure } from '../api-answers.ts';
import {
  addNewer,
  addNewest,
  addPage,
  type Row,
  type RowsPage,
  type Segment,
  updateRows,
} from './row-segments.ts';

const pageSize = 40;
/** @limit Most rows that an open list adds by itself as they are recorded: past it, they wait for the user. */
const addedRowsMax = 300;
/** @limit Most new rows that a list adds at once without a gap: if there are more, it begins again at the newest. */
const newRowsMax = 100;
/** @limit New rows up to which a paused list counts: nobody compares larger numbers. */
export const countedRowsMax = 1_000;
/** How long a row that was added looks new, in ms. */
const arrivedMs = 1_600;
/** Time between two looks for new rows, in ms. */
const lookMs = 1_000;

/** Which part of a list is read, as the API names it. */
export interface RowsPosition {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly after?: string | undefined;
  readonly since?: string | undefined;
}

export interface RowsSource<T> {
  readonly read: (position: RowsPosition, signal: AbortSignal) => Promise<RowsPage<T>>;
  /** Reads rows that are known, whose state may have changed since. */
  readonly readAgain: (position: RowsPosition, signal: AbortSignal) => Promise<RowsPage<T>>;
  /** Whether what is shown of a row may still change. */
  readonly mayChange: (row: T) => boolean;
  readonly timeOf: (row: T) => string;
  /** Calls `onEvent` when there may be new rows, until the returned function is called; undefined: the list ends in the past. */
  readonly watch: ((onEvent: () => void, onLive: (isLive: boolean) => void) => () => void) | undefined;
}

/** How far a search is that has not found a page of rows yet. */
export interface SearchProgress {
  readonly searched: number;
  /** The row up to which it has looked. */
  readonly lastId: string;
}

/** What is shown of a list. */
export interface Rows<T> {
  readonly segments: readonly Segment<T>[] | undefined;
  readonly error: unknown;
  /** While a page is read. */
  readonly progress: SearchProgress | undefined;
  readonly isReading: boolean;
  /** The number of new rows that are not shown, while the list is held. */
  readonly waiting: number;
  readonly isLive: boolean;
}

type SetState<T> = (change: (known: Rows<T>) => Rows<T>) => void;

/** Reads the rows of one list, one request after the other. */
export class RowList<T extends Row> {
  source!: RowsSource<T>;
  isHeld!: () => boolean;
  /** The rows that were added on top last, and when. */
  #arrived: { readonly ids: ReadonlySet<string>; readonly atMs: number } = { ids: new Set(), atMs: 0 };
  readonly #setState: SetState<T>;
  readonly #reportFailure: (error: unknown) => void;
  #segments: readonly Segment<T>[] | undefined;
  #lifetime = new AbortController();
  #reading = new AbortController();
  /** Rows recorded after this one are new; undefined until that is known. */
  #end: string | undefined;
  /** Up to which row the new ones are counted. */
  #countedTo: string | undefined;
  #waiting = 0;
  /** How many rows were added since the user last asked for new ones. */
  #added = 0;
  #isLooking = false;
  #isWoken = false;
  #isRefreshing = false;

  constructor(setState: SetState<T>, reportFailure: (error: unknown) => void) {
    this.#reportFailure = reportFailure;
    this.#setState = change => {
      if (!this.#lifetime.signal.aborted) setState(change);
    };
  }

  /** Whether a row was added on top just now. */
  hasArrived(id: string): boolean {
    return this.#arrived.ids.has(id) && performance.now() - this.#arrived.atMs < arrivedMs;
  }

  open(): void {
    this.close();
    this.#lifetime = new AbortController();
    void this.#readNewest();
  }

  close(): void {
    this.#lifetime.abort();
    this.#reading.abort();
  }

  /** Ends a search. */
  stop(): void {
    this.#reading.abort();
  }

  readMore(index: number): void {
    void this.#fill(index);
  }

  /** Shows the new rows: all, or the newest if there are many. */
  showNew(): void {
    this.#added = 0;
    if (this.#waiting > newRowsMax) void this.#readNewest();
    else void this.#guard(() => this.#addNew());
  }

  /** Looks for new rows, soon. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isLooking) void this.#look();
  }

  /** Reads rows again that may have changed, beginning with the oldest of them. */
  refresh(): void {
    if (this.#isRefreshing) return;
    const known = this.#segments?.flatMap(({ rows }) => rows) ?? [];
    const oldest = known.findLastIndex(row => this.source.mayChange(row));
    const row = known[oldest];
    if (!row) return;
    const before = known[oldest + 1]?.id;
    const position =
      before === undefined ? { after: 'start', since: this.source.timeOf(row) } : { after: before };
    this.#isRefreshing = true;
    void this.#guard(async signal => {
      const page = await this.source.readAgain({ ...position, limit: newRowsMax }, signal);
      this.#change(updateRows(this.#segments ?? [], page.rows));
    }).finally(() => {
      this.#isRefreshing = false;
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    // The lifetime is the current one: the list may be opened again meanwhile.
    while (this.#isWoken && !this.#lifetime.signal.aborted) {
      this.#isWoken = false;
      await this.#guard(() => this.#takeNew());
      await new Promise(resolve => setTimeout(resolve, lookMs));
    }
    this.#isLooking = false;
  }

  async #takeNew(): Promise<void> {
    if (this.#waiting > countedRowsMax) return;
    // While the list is read for the first time, nothing tells which rows are new.
    if (this.#end === undefined) {
      this.#isWoken = true;
      return;
    }
    const mayAdd = this.#waiting <= newRowsMax && this.#added < addedRowsMax && !this.isHeld();
    await (mayAdd ? this.#addNew() : this.#countNew());
  }

  async #addNew(): Promise<void> {
    const { rows, end, isMore } = await this.#readNew(this.#end ?? 'start');
    if (isMore) return this.#readNewest();
    if (rows.length > 0) this.#arrived = { ids: new Set(rows.map(({ id }) => id)), atMs: performance.now() };
    this.#added += rows.length;
    this.#end = end;
    this.#wait(0);
    if (rows.length > 0) this.#change(addNewer(this.#segments ?? [], rows.toReversed()));
  }

  async #countNew(): Promise<void> {
    const { rows, end, isMore } = await this.#readNew(this.#countedTo ?? this.#end ?? 'start');
    this.#wait(this.#waiting + rows.length, end);
    if (isMore) this.#isWoken = true;
  }

  #wait(waiting: number, countedTo?: string): void {
    this.#countedTo = countedTo;
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    this.#setState(known => ({ ...known, waiting }));
  }

  /** Reads the rows after one, oldest first. */
  async #readNew(after: string): Promise<{ rows: readonly T[]; end: string; isMore: boolean }> {
    const rows: T[] = [];
    for (let end = after; ; ) {
      const page = await this.source.read({ after: end, limit: newRowsMax }, this.#lifetime.signal);
      rows.push(...page.rows);
      end = page.next ?? end;
      if (!page.hasMore || rows.length >= newRowsMax) return { rows, end, isMore: page.hasMore };
    }
  }

  async #readNewest(): Promise<void> {
    await this.#guard(async signal => {
      // Comes first: rows that are recorded before the list is read are in both.
      const { next } = await this.source.read({ after: 'now', limit: 1 }, signal);
      const page = await this.source.read({ limit: pageSize }, signal);
      this.#end = next ?? 'start';
      this.#wait(0);
      const isGap = this.#segments !== undefined;
      this.#change(addNewest(this.#segments ?? [], page));
      if (!isGap && page.rows.length < pageSize && page.next !== null) await this.#fill(0, page.searched);
    });
  }

  /** Reads a page after a segment. A search goes on until it has found one. */
  async #fill(index: number, before = 0): Promise<void> {
    this.#reading.abort();
    const reading = new AbortController();
    this.#reading = reading;
    let [found, searched] = [0, before];
    this.#setState(known => ({ ...known, isReading: true }));
    await this.#guard(async () => {
      while (found < pageSize && !reading.signal.aborted) {
        const cursor = this.#segments?.[index]?.next;
        if (!cursor) return;
        const progress = searched === 0 ? undefined : { searched, lastId: cursor };
        this.#setState(known => ({ ...known, progress }));
        const page = await this.source.read({ cursor, limit: pageSize - found }, reading.signal);
        found += page.rows.length;
        searched += page.searched;
        const count = this.#segments?.length;
        this.#change(addPage(this.#segments ?? [], index, page));
        // The gap is closed: what follows was read before.
        if (this.#segments?.length !== count) return;
      }
    });
    if (this.#reading === reading)
      this.#setState(known => ({ ...known, isReading: false, progress: undefined }));
  }

  #change(segments: readonly Segment<T>[]): void {
    this.#segments = segments;
    this.#setState(known => ({ ...known, segments }));
  }

  /** Shows a failure, unless the list is closed or the user has stopped what failed. */
  async #guard(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#lifetime;
    try {
      await act(signal);
      this.#setState(known => (known.error === undefined ? known : { ...known, error: undefined }));
    } catch (error) {
      if (signal.aborted || (error instanceof DOMException && error.name === 'AbortError')) return;
      // The row up to which the list was read is no longer kept.
      if (error instanceof ApiFailure && error.problem?.code === 'cursor-unknown')
        return this.#wait(countedRowsMax + 1);
      this.#reportFailure(error);
      this.#setState(known => ({ ...known, error }));
    }
  }
}
