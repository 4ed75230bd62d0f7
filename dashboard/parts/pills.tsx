import type { ComponentChildren } from 'preact';
import { type DeliveryKind, findDeliveryKind, type Outcome, type RunState } from '../../schema/delivery.ts';

const runStatePillTones: Readonly<Record<RunState, Tone>> = {
  queued: 'quiet',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
};

interface Properties {
  readonly state: RunState;
  /** How many runs are in the state, if the pill stands for several. */
  readonly count?: number | undefined;
}

const tones: Readonly<Record<DeliveryKind, Tone>> = { accepted: 'good', duplicate: 'warn', rejected: 'bad' };

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'busy';

/** A state in one word. Each tone has its own shape as well as its own colour. */
export function Pill({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}

export function OutcomePill({ outcome }: { readonly outcome: Outcome }) {
  const kind = findDeliveryKind(outcome);
  return <Pill tone={kind ? tones[kind] : 'quiet'}>{outcome}</Pill>;
}

/** Says whether an automation or a webhook is enabled, and of an automation whether it is paused. */
export function EnabledPill({
  enabled,
  paused = false,
}: {
  readonly enabled: boolean;
  readonly paused?: boolean;
}) {
  if (enabled && paused) return <Pill tone="warn">Paused</Pill>;
  return <Pill tone={enabled ? 'good' : 'quiet'}>{enabled ? 'Enabled' : 'Disabled'}</Pill>;
}

export function RunStatePill({ state, count }: Properties) {
  return (
    <Pill tone={runStatePillTones[state]}>
      {count === undefined ? '' : `${count} `}
      {state}
    </Pill>
  );
}
