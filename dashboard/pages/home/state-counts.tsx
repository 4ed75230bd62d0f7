import type { HealthState } from '../../../schema/health.ts';
import { healthLooks } from '../../parts/health-pill.tsx';
import { Pill } from '../../parts/pill.tsx';

/** How many webhooks are in each state. */
export type Counts = Readonly<Record<HealthState, number>>;

const order = ['failing', 'quiet', 'healthy', 'never seen'] as const satisfies HealthState[];

/** The number of webhooks in each state that there is, the worst first. */
export function StateCounts({ counts }: { readonly counts: readonly Counts[] }) {
  const total = (state: HealthState) => counts.reduce((sum, each) => sum + each[state], 0);
  const shown = order.filter(state => total(state) > 0);
  return (
    <span class="pair">
      {shown.map(state => (
        <Pill key={state} tone={healthLooks[state].tone}>
          {total(state)} {healthLooks[state].label.toLowerCase()}
        </Pill>
      ))}
      {shown.length === 0 && <span class="muted">no webhooks</span>}
    </span>
  );
}
