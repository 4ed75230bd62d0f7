import { expect, test } from 'vitest';
import { findViolations, type Stored } from '../../system/faults/find-violations.ts';
import type { Notes } from '../../system/faults/notes.ts';

const notes: Notes = {
  answers: [
    { identity: 'one', replica: 'a' },
    { identity: 'one', replica: 'b', status: 503 },
    { identity: 'one', replica: 'b', status: 202, deliveryId: 'dlv_1' },
    { identity: 'one', replica: 'a', status: 202, deliveryId: 'dlv_1' },
  ],
  incidents: [],
  executions: [
    { run: 'run_1', replica: 'a', startMs: 11, endMs: 40 },
    { run: 'run_1', replica: 'b', startMs: 21, endMs: 29 },
  ],
};
/** A lost its lease: B claimed the run, and the result of B counts. */
const stored: Stored = {
  accepted: [{ id: 'dlv_1', identity: 'one', work: 'quick' }],
  runs: [{ id: 'run_1', deliveryId: 'dlv_1', automation: 'quick', state: 'succeeded' }],
  history: [
    { run: 'run_1', replica: 'a', atMs: 10, kind: 'claimed' },
    { run: 'run_1', replica: 'b', atMs: 20, kind: 'queued' },
    { run: 'run_1', replica: 'b', atMs: 20, kind: 'claimed' },
    { run: 'run_1', replica: 'b', atMs: 30, kind: 'finished' },
  ],
};
const [answer] = notes.answers.slice(3);
const [accepted] = stored.accepted;
const [run] = stored.runs;
const history = stored.history.slice(0, 3);

const counts = (more: Partial<Notes & Stored>) => {
  const found = Object.entries(findViolations({ ...notes, ...more }, { ...stored, ...more }));
  return Object.fromEntries(
    found.flatMap(([promise, cases]) => (cases.length ? [[promise, cases.length]] : [])),
  );
};

test('nothing is wrong if each acknowledged delivery and its run are there once', () => {
  expect(counts({})).toEqual({});
});

test.each<[string, Partial<Notes & Stored>]>([
  ['acknowledged deliveries lost', { accepted: [], runs: [], history: [], executions: [] }],
  ['acknowledged deliveries lost', { accepted: [{ id: 'dlv_1', identity: 'one' }] }],
  ['identities accepted twice', { answers: [...notes.answers, { ...answer, deliveryId: 'dlv_2' } as never] }],
  ['identities accepted twice', { accepted: [...stored.accepted, { ...accepted, work: 'none' } as never] }],
  ['runs missing', { runs: [] }],
  ['runs that did not end in success', { runs: [{ ...run, state: 'running' } as never] }],
  [
    'results of a lost lease accepted',
    { history: [...history, { run: 'run_1', replica: 'a', atMs: 41, kind: 'finished' }] },
  ],
  [
    'results of a lost lease accepted',
    { history: [...history, { run: 'run_1', replica: 'b', atMs: 25, kind: 'finished' }] },
  ],
  [
    'results of a lost lease accepted',
    { history: [...stored.history, { run: 'run_1', replica: 'a', atMs: 41, kind: 'finished' }] },
  ],
  [
    'executions without a claim',
    { executions: [...notes.executions, { run: 'run_1', replica: 'b', startMs: 22, endMs: 23 }] },
  ],
  ['wrong answers', { answers: [...notes.answers, { identity: 'two', replica: 'a', status: 404 }] }],
  ['replicas that did not recover', { incidents: ['replica a ended by itself'] }],
])('%s are counted', (promise, change) => {
  expect(counts(change)).toEqual({ [promise]: 1 });
});
