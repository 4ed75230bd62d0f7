import type { RunState } from '../../schema/delivery.ts';
import { Pill, type Tone } from './pill.tsx';

const tones: Readonly<Record<RunState, Tone>> = {
  queued: 'quiet',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

interface Properties {
  readonly state: RunState;
  /** How many runs are in the state, if the pill stands for several. */
  readonly count?: number | undefined;
}

export function RunStatePill({ state, count }: Properties) {
  return (
    <Pill tone={tones[state]}>
      {count === undefined ? '' : `${count} `}
      {state}
    </Pill>
  );
}
