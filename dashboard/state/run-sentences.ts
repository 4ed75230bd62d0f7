import type { RunPointer } from './run-draft.ts';

/** A part of a sentence, with a field for one key in it. */
interface Blank {
  readonly at: RunPointer;
  readonly before: string;
  readonly after: string;
  /** A text that fits the field; without one, the field is a choice. */
  readonly example?: string;
}

export interface RunSentence {
  readonly title: string;
  readonly blanks: readonly Blank[];
}

/** How runs are executed, as sentences to fill in. */
export const runSentences: readonly RunSentence[] = [
  {
    title: 'Runner',
    blanks: [
      { at: '/runner', before: 'The runner ', after: ' executes each run,' },
      { at: '/repository', before: 'with a working copy of ', after: '.' },
    ],
  },
  {
    title: 'Artifacts',
    blanks: [
      {
        at: '/requires',
        before: 'A run fails unless it leaves the artifacts ',
        example: 'answer.md, report.md',
        after: '.',
      },
    ],
  },
  {
    title: 'Attempts',
    blanks: [
      { at: '/timeLimit', before: 'An attempt takes at most ', example: '10m', after: ';' },
      { at: '/attempts', before: 'a run has at most ', example: '3', after: ' attempts.' },
      {
        at: '/backOff/first',
        before: 'After the first failed attempt, a run waits ',
        example: '30s',
        after: ',',
      },
      { at: '/backOff/max', before: 'then twice as long each time, at most ', example: '5m', after: '.' },
    ],
  },
  {
    title: 'Runs at a time',
    blanks: [
      { at: '/concurrency', before: 'At most ', example: '2', after: ' runs at a time' },
      {
        at: '/concurrencyKey',
        before: 'for each value of ',
        example: '$.repository.full_name',
        after: '; the others wait.',
      },
    ],
  },
  {
    title: 'Order',
    blanks: [
      {
        at: '/order',
        before: 'Runs with the same ',
        example: '$.issue.id',
        after: ' start one after the other;',
      },
      { at: '/onFailure', before: 'when one fails, ', after: '.' },
    ],
  },
  {
    title: 'Bursts',
    blanks: [
      {
        at: '/debounce/for',
        before: 'One run for a burst: it waits ',
        example: '30s',
        after: ' for further deliveries',
      },
      { at: '/debounce/key', before: 'with the same ', example: '$.issue.id', after: ',' },
      { at: '/debounce/atMost', before: 'at most ', example: '5m', after: ' in all.' },
    ],
  },
  {
    title: 'Notifications',
    blanks: [{ at: '/notify', before: 'The receivers of alerts are told of runs that have ', after: '.' }],
  },
  {
    title: 'Runs per hour',
    blanks: [
      {
        at: '/runsPerHour',
        before: 'At most ',
        example: '20',
        after: ' runs may start within an hour; further ones fail.',
      },
    ],
  },
];
