import type { RunState } from '../../schema/delivery.ts';
import { Pill, type Tone } from './pill.tsx';

const tones: Readonly<Record<RunState, Tone>> = {
  queued: 'quiet',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

export function RunStatePill({ state }: { readonly state: RunState }) {
  return <Pill tone={tones[state]}>{state}</Pill>;
}
