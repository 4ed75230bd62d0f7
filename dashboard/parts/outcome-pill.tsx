import type { Delivery } from '../api-types.ts';
import { Pill, type Tone } from './pill.tsx';

export function OutcomePill({ outcome }: { readonly outcome: Delivery['outcome'] }) {
  return <Pill tone={toneOf(outcome)}>{outcome}</Pill>;
}

function toneOf(outcome: Delivery['outcome']): Tone {
  if (outcome === 'Accepted') return 'good';
  if (outcome === 'Duplicate') return 'warn';
  return outcome === 'Handshake' ? 'quiet' : 'bad';
}
