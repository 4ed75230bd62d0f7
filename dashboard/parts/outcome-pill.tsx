import { type DeliveryKind, findDeliveryKind, type Outcome } from '../../schema/delivery.ts';
import { Pill, type Tone } from './pill.tsx';

export function OutcomePill({ outcome }: { readonly outcome: Outcome }) {
  const kind = findDeliveryKind(outcome);
  return <Pill tone={kind ? tones[kind] : 'quiet'}>{outcome}</Pill>;
}

const tones: Readonly<Record<DeliveryKind, Tone>> = { accepted: 'good', duplicate: 'warn', rejected: 'bad' };
