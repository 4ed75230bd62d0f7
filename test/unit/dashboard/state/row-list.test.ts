import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RowList, type RowsPosition } from '../../../../dashboard/state/row-list.ts';

interface NumberedRow {
  readonly id: string;
}

function fail(error: unknown): never {
  throw error;
}

/** A list that is open on a log. Only the second between two looks is left to `pass`. */
function openList() {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const recorded: NumberedRow[] = [{ id: '1' }];
  let shown: readonly string[] = [];
  let beforePage: Promise<void> | undefined;
  const list = new RowList<NumberedRow>(change => {
    const known = { segments: undefined, error: undefined, progress: undefined };
    const { segments } = change({ ...known, isReading: false, waiting: 0, isLive: true });
    if (segments) shown = segments.flatMap(({ rows }) => rows.map(({ id }) => id));
  }, fail);
  list.source = {
    read: async ({ after }: RowsPosition, signal) => {
      const known = [...recorded];
      const end = known.at(-1)?.id ?? null;
      const found = { next: end, hasMore: false, searched: 0 };
      if (after === 'now') return { ...found, rows: [] };
      if (after !== undefined) return { ...found, rows: known.slice(Number(after)) };
      await beforePage;
      signal.throwIfAborted();
      return { ...found, rows: known.toReversed(), next: null };
    },
    readAgain: () => Promise.reject(new Error('no row changes')),
    mayChange: () => false,
    timeOf: () => '',
    watch: undefined,
  };
  list.isHeld = () => false;
  onTestFinished(() => {
    list.close();
    vi.useRealTimers();
  });
  list.open();
  return {
    list,
    shown: () => shown,
    record: () => {
      recorded.push({ id: String(recorded.length + 1) });
      list.wake();
    },
    holdPage: () => {
      const held = Promise.withResolvers<void>();
      beforePage = held.promise;
      return held.resolve;
    },
    pass: async () => {
      await setImmediate();
      vi.advanceTimersByTime(1_000);
      await setImmediate();
    },
  };
}

test('a row that is recorded soon after the list was loaded again appears', async () => {
  const { list, shown, record, pass } = openList();
  await setImmediate();
  record();
  await setImmediate();
  expect(shown()).toEqual(['2', '1']);
  list.open();
  await setImmediate();
  record();
  await pass();
  expect(shown()).toEqual(['3', '2', '1']);
});

test('a row that is recorded while the list is loaded appears', async () => {
  const { shown, record, holdPage, pass } = openList();
  const release = holdPage();
  await setImmediate();
  record();
  await setImmediate();
  release();
  await setImmediate();
  expect(shown()).toEqual(['1']);
  await pass();
  expect(shown()).toEqual(['2', '1']);
});

test('a list that is closed looks for nothing more', async () => {
  const { list, shown, record, pass } = openList();
  await setImmediate();
  list.close();
  record();
  await pass();
  await pass();
  expect(shown()).toEqual(['1']);
});
