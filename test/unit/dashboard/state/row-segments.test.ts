import { expect, test } from 'vitest';
import {
  addNewer,
  addNewest,
  addPage,
  type Segment,
  updateRows,
} from '../../../../dashboard/state/row-segments.ts';

interface NumberedRow {
  readonly id: string;
  readonly state?: string;
}

const rows = (...ids: readonly number[]): NumberedRow[] => ids.map(id => ({ id: String(id) }));
const page = (next: string | null, ...ids: readonly number[]) => {
  return { rows: rows(...ids), next, hasMore: next !== null, searched: ids.length };
};
const idsOf = (segments: readonly Segment<NumberedRow>[]) =>
  segments.map(segment => [...segment.rows.map(({ id }) => Number(id)), segment.next]);

test('rows that were read stay below the newest page, until the gap is closed', () => {
  const opened = addNewest<NumberedRow>([], page('8', 9, 8));
  expect(idsOf(opened)).toEqual([[9, 8, '8']]);
  const newer = addNewest(opened, page('14', 15, 14));
  expect(idsOf(newer)).toEqual([
    [15, 14, '14'],
    [9, 8, '8'],
  ]);
  const nearer = addPage(newer, 0, page('11', 13, 12, 11));
  expect(idsOf(nearer)).toEqual([
    [15, 14, 13, 12, 11, '11'],
    [9, 8, '8'],
  ]);
  expect(idsOf(addPage(nearer, 0, page('8', 10, 9, 8)))).toEqual([[15, 14, 13, 12, 11, 10, 9, 8, '8']]);
  // The rows between were removed meanwhile.
  expect(idsOf(addPage(nearer, 0, page(null)))).toEqual([[15, 14, 13, 12, 11, 9, 8, '8']]);
  expect(idsOf(addPage(nearer, 1, page(null, 7)))).toEqual([
    [15, 14, 13, 12, 11, '11'],
    [9, 8, 7, null],
  ]);
});

test('a newest page without a gap joins the rows that are known', () => {
  const known = addNewest<NumberedRow>([], page('8', 9, 8));
  expect(idsOf(addNewest(known, page('9', 11, 10, 9)))).toEqual([[11, 10, 9, 8, '8']]);
  expect(idsOf(addNewest(known, page('8', 9, 8)))).toEqual([[9, 8, '8']]);
});

test('newer rows are added once, and newer versions of rows replace them', () => {
  const known = addNewer(addNewest<NumberedRow>([], page(null, 9)), rows(10, 9));
  expect(idsOf(known)).toEqual([[10, 9, null]]);
  const [segment] = updateRows(known, [{ id: '9', state: 'failed' }, { id: '4' }]);
  expect(segment?.rows).toEqual([{ id: '10' }, { id: '9', state: 'failed' }]);
});
