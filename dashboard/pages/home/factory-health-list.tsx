import type { HealthState } from '../../../schema/health.ts';
import type { FactoryList, HealthOverview } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { healthLooks } from '../../parts/health-pill.tsx';
import { Pill } from '../../parts/pills.tsx';
import type { Span } from '../../text/delivery-bars.ts';
import { FactoryHealth } from './factory-health.tsx';

/** How many webhooks are in each state. */
type Counts = Readonly<Record<HealthState, number>>;

const order = ['failing', 'quiet', 'healthy', 'never seen'] as const satisfies HealthState[];

interface FactoryRow {
  readonly factory: string;
  readonly counts: Counts;
}

interface Properties {
  readonly rows: readonly FactoryRow[];
  readonly span: Span;
}

/** A row for each factory, which opens to show its webhooks. What is closed is not read. */
export function FactoryHealthList({ rows, span }: Properties) {
  return (
    <section>
      <div class="section-heading">
        <h2>Factories</h2>
      </div>
      <ul class="card rows factories">
        {rows.map(({ factory, counts }) => (
          <Disclosure
            key={factory}
            summary={
              <>
                <bdi class="factory-row">{factory}</bdi>
                <StateCounts counts={[counts]} />
              </>
            }
          >
            {() => <FactoryHealth factory={factory} span={span} />}
          </Disclosure>
        ))}
      </ul>
    </section>
  );
}

/** Counts the states of each factory's webhooks, the worst factories first. Who never got a delivery is not in the overview. */
export function countStates(factories: FactoryList['factories'], overview: HealthOverview): FactoryRow[] {
  const seen = new Map(overview.factories.map(({ factory, counts }) => [factory, counts]));
  const rows = factories.map(({ factory, webhooks }) => {
    const counts = { failing: 0, quiet: 0, healthy: 0, 'never seen': 0 };
    for (const { state, webhooks } of seen.get(factory) ?? []) counts[state] += webhooks;
    const counted = Object.values(counts).reduce((sum, count) => sum + count, 0);
    counts['never seen'] += Math.max(0, webhooks - counted);
    return { factory, counts };
  });
  return rows.sort(({ counts: one }, { counts: other }) => {
    return other.failing - one.failing || other.quiet - one.quiet;
  });
}

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
      {shown.length === 0 && <span class="t3">no webhooks</span>}
    </span>
  );
}
