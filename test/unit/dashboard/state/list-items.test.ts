import { describe, expect, test } from 'vitest';
import { toListItems } from '../../../../dashboard/state/list-items.ts';

interface SampleRow {
  readonly id: string;
  readonly at: string;
  readonly fold?: string;
}

const row = (id: string, time: string, fold?: string): SampleRow => ({
  id,
  at: `2026-11-24T${time}Z`,
  ...(fold !== undefined && { fold }),
});

/** The lines as texts: `> Mon 1`, `a`, `5 since 00:00:01`, `…`. */
function layOut(segments: readonly (readonly SampleRow[])[], more: object = {}): string[] {
  const options = {
    timeOf: ({ at }: SampleRow) => at,
    foldOf: ({ fold }: SampleRow) => fold,
    opened: new Set<string>(),
    zone: 'utc' as const,
    ...more,
  };
  const items = toListItems(
    segments.map(rows => ({ rows, next: null })),
    options,
  );
  expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  return items.map(item => {
    if (item.kind === 'day') return `> ${new Date(item.atMs).toISOString().slice(0, 10)}`;
    if (item.kind === 'row') return item.row.id;
    if (item.kind === 'gap') return `gap ${item.segment}`;
    return `${item.count} since ${item.since.slice(11, 19)}${item.isOpen ? ', open' : ''}`;
  });
}

const alike = (count: number, hour: string) =>
  Array.from({ length: count }, (_, n) => row(`${hour}-${n}`, `${hour}:00:${String(50 - n)}`, 'stripe old'));

describe('the lines of a list', () => {
  test('begin each day with a line, also across segments', () => {
    const yesterday = { id: 'y', at: '2026-11-23T23:59:59Z' };
    expect(layOut([[row('b', '00:00:01'), yesterday], [{ id: 'x', at: '2026-11-23T10:00:00Z' }]])).toEqual([
      ...['> 2026-11-24', 'b', '> 2026-11-23', 'y', 'gap 0', 'x'],
    ]);
  });

  test('fold five rows alike below the newest of them, also if others came in between', () => {
    const [first, ...others] = alike(5, '10');
    if (!first) throw new Error('no rows');
    const mixed = [first, row('other', '10:00:49'), ...others];
    expect(layOut([mixed])).toEqual(['> 2026-11-24', '10-0', '4 since 10:00:46', 'other']);
    expect(layOut([alike(4, '10')])).toEqual(['> 2026-11-24', '10-0', '10-1', '10-2', '10-3']);
  });

  test('are shown in their places while a fold is open, and the open one stays open as rows come', () => {
    const items = toListItems([{ rows: alike(6, '10'), next: null }], {
      ...{ timeOf: ({ at }: SampleRow) => at, foldOf: ({ fold }: SampleRow) => fold },
      ...{ opened: new Set<string>(), zone: 'utc' as const },
    });
    const fold = items.find(item => item.kind === 'fold')?.fold ?? '';
    const newer = [row('new', '11:00:00', 'stripe old'), ...alike(6, '10')];
    expect(layOut([newer], { opened: new Set([fold]) })).toEqual([
      ...['> 2026-11-24', 'new', '6 since 10:00:45, open', '10-0', '10-1', '10-2', '10-3', '10-4', '10-5'],
    ]);
  });

  test('never fold across midnight, nor across rows that were not read', () => {
    const before = alike(5, '23').map(({ id, fold = '' }) => ({
      id: `y${id}`,
      at: '2026-11-23T23:00:00Z',
      fold,
    }));
    expect(layOut([[...alike(5, '00'), ...before]])).toEqual([
      ...['> 2026-11-24', '00-0', '4 since 00:00:46', '> 2026-11-23', 'y23-0', '4 since 23:00:00'],
    ]);
    expect(layOut([alike(4, '12'), alike(4, '10')])).toHaveLength(10);
  });

  test('keep the row whose detail is shown', () => {
    expect(layOut([alike(6, '10')], { current: '10-3' })).toEqual([
      ...['> 2026-11-24', '10-0', '4 since 10:00:45', '10-3'],
    ]);
  });
});
