import type { FactoryList, HealthOverview } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import type { Span } from '../../text/delivery-bars.ts';
import { FactoryHealth } from './factory-health.tsx';
import { type Counts, StateCounts } from './state-counts.tsx';

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
