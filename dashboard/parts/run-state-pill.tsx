import type { Run } from '../api-types.ts';
import { Pill, type Tone } from './pill.tsx';

const tones: Readonly<Record<Run['state'], Tone>> = {
  queued: 'quiet',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

export function RunState({ state }: { readonly state: Run['state'] }) {
  return <Pill tone={tones[state]}>{state}</Pill>;
}
