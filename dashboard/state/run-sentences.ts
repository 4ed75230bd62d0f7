import { formatRunTime } from '../text/format-time.ts';
import type { RunPointer } from './run-draft.ts';

/** A part of a sentence: what stands before the slot, in it, and after it. */
export type Phrase = readonly [before: string, slot: string, after?: string];

/** A key that controls runs, as a part of a sentence. */
export interface RunSlot {
  readonly at: RunPointer;
  /** The name of its field. */
  readonly label: string;
  /** Says its value. */
  readonly set: (text: string) => Phrase;
  /** Says that there is none, or offers to set one. */
  readonly unset: Phrase;
  /** A text that fits the field; without one, the field is a choice. */
  readonly example?: string;
  /** The key without which this one has no effect, so that it is offered only beside that. */
  readonly needs?: RunPointer;
}

/** How runs are executed, as sentences. Each key is in one of them. */
export const runSentences: readonly (readonly RunSlot[])[] = [
  [
    {
      ...{ at: '/timeLimit', label: 'Time limit', example: '10m' },
      set: time => ['Each attempt may take ', formatRunTime(time)],
      unset: ['Each attempt may take ', 'as long as the operator allows'],
    },
    {
      ...{ at: '/attempts', label: 'Attempts', example: '3' },
      set: count => ['. Try ', count === '1' ? 'once' : `up to ${count} times`],
      unset: ['. Try ', 'as often as the operator says'],
    },
    {
      ...{ at: '/backOff/first', label: 'First wait', example: '30s' },
      set: time => [', first after ', formatRunTime(time)],
      unset: [', first after ', 'the usual wait'],
    },
    {
      ...{ at: '/backOff/max', label: 'Longest wait', example: '5m' },
      set: time => [', then twice as long each time, up to ', formatRunTime(time)],
      unset: [', then twice as long each time, ', 'up to the usual wait'],
    },
  ],
  [
    {
      ...{ at: '/concurrency', label: 'Runs at a time', example: '1' },
      set: count => ['Run ', `${count} at a time`],
      unset: ['Run ', 'any number at a time'],
    },
    {
      ...{ at: '/concurrencyKey', label: 'Limit for each', example: '$.repository.full_name' },
      set: path => [' for each ', path],
      unset: [' ', 'for all deliveries together'],
      needs: '/concurrency',
    },
    {
      ...{ at: '/order', label: 'Order', example: '$.issue.id' },
      set: path => ['. Keep the order of each ', path],
      unset: ['. ', 'Keep an order'],
    },
    {
      ...{ at: '/onFailure', label: 'After a failure', needs: '/order' },
      set: choice => [
        '. When one fails, ',
        choice === 'hold' ? 'the others wait until it succeeds or is dismissed' : 'the next one starts',
      ],
      unset: ['. When one fails, ', 'the next one starts'],
    },
    {
      ...{ at: '/onlyLatest', label: 'Only the latest', needs: '/order' },
      set: isSo => ['. A newer run ', isSo === 'true' ? 'cancels those that wait' : 'waits its turn'],
      unset: ['. A newer run ', 'waits its turn'],
    },
    {
      ...{ at: '/cancelRunning', label: 'The running one', needs: '/onlyLatest' },
      set: isSo => [isSo === 'true' ? ' and ' : ', but not ', 'the running one'],
      unset: [', but not ', 'the running one'],
    },
  ],
  [
    {
      ...{ at: '/debounce/for', label: 'Quiet time', example: '30s' },
      set: time => ['Start once no further delivery has come for ', formatRunTime(time)],
      unset: ['Start at once. ', 'Wait for a burst to end'],
    },
    {
      ...{ at: '/debounce/key', label: 'Burst of', example: '$.issue.id', needs: '/debounce/for' },
      set: path => [' with the same ', path],
      unset: [' ', 'of any kind'],
    },
    {
      ...{ at: '/debounce/atMost', label: 'Longest burst', example: '5m', needs: '/debounce/for' },
      set: time => [', at the latest after ', formatRunTime(time)],
      unset: [', at the latest after ', 'ten times that'],
    },
  ],
  [
    {
      ...{ at: '/runsPerHour', label: 'Runs an hour', example: '20' },
      set: count => ['Stop after ', count === '1' ? '1 run' : `${count} runs`, ' an hour'],
      unset: ['', 'Stop after a number of runs an hour'],
    },
    {
      ...{ at: '/notify', label: 'Notifications' },
      set: ends => ['. Tell the receivers of alerts about ', `runs that have ${ends.replace(', ', ' or ')}`],
      unset: ['. ', 'Tell the receivers of alerts how runs end'],
    },
  ],
  [
    {
      ...{ at: '/runner', label: 'Runner' },
      set: name => ['The runner ', name, ' executes each run'],
      unset: ['The runner ', 'default', ' executes each run'],
    },
    {
      ...{ at: '/repository', label: 'Repository' },
      set: name => [' with a working copy of ', name],
      unset: [' with ', 'no repository'],
    },
    {
      ...{ at: '/requires', label: 'Artifacts', example: 'answer.md, report.md' },
      set: names => ['. Each run must leave ', names],
      unset: ['. ', 'Require artifacts'],
    },
  ],
];
