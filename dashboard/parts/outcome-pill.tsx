import type { Outcome } from '../../schema/delivery.ts';
import { Pill, type Tone } from './pill.tsx';

export function OutcomePill({ outcome }: { readonly outcome: Outcome }) {
  return <Pill tone={getTone(outcome)}>{outcome}</Pill>;
}

function getTone(outcome: Outcome): Tone {
  if (outcome === 'Accepted') return 'good';
  if (outcome === 'Duplicate') return 'warn';
  return outcome === 'Handshake' || outcome === 'Manual' ? 'quiet' : 'bad';
}
