import { type HealthState, healthStates } from '../../../schema/health.ts';
import type { FactoryList, HealthOverview } from '../../api-types.ts';
import { State } from '../../parts/signs.tsx';
import { knownAlerts } from '../../state/attention.ts';
import { toHref } from '../../state/page-location.ts';
import { lookOfHealth } from '../../text/looks.ts';

/** How many webhooks are in each state. */
type Counts = Readonly<Record<HealthState, number>>;

interface FactoryRow {
  readonly factory: string;
  readonly counts: Counts;
}

interface Properties {
  readonly factories: FactoryList['factories'];
  readonly overview: HealthOverview;
}

const columns = [
  ['failing', 'Failing'],
  ['quiet', 'Quiet'],
  ['healthy', 'Healthy'],
  ['never seen', 'Waiting'],
] as const satisfies readonly (readonly [HealthState, string])[];

/** The factories, the worst first, with the number of their webhooks in each state. */
export function FactoryTable({ factories, overview }: Properties) {
  return (
    <section>
      <div class="sec">
        <h2>Factories</h2>
      </div>
      <table class="edge factories">
        <thead>
          <tr>
            <th scope="col">Factory</th>
            {columns.map(([state, label]) => (
              <th key={state} scope="col" class={`right ${state === 'never seen' ? 'no-phone' : ''}`}>
                {label}
              </th>
            ))}
            <th scope="col" class="right no-phone">
              Alerts
            </th>
          </tr>
        </thead>
        <tbody>
          {countStates(factories, overview).map(row => (
            <FactoryTableRow key={row.factory} {...row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function FactoryTableRow({ factory, counts }: FactoryRow) {
  const alerts = knownAlerts.value?.alerts.filter(alert => alert.factory === factory).length ?? 0;
  return (
    <tr class="go">
      <td>
        <a class="stretch name" href={toHref({ page: 'overview', factory })}>
          <bdi>{factory}</bdi>
        </a>
      </td>
      {columns.map(([state]) => (
        <td key={state} class={`right ${state === 'never seen' ? 'no-phone' : ''}`}>
          <StateCount state={state} count={counts[state]} />
        </td>
      ))}
      <td class="right no-phone">{alerts === 0 ? <span class="t3">0</span> : alerts}</td>
    </tr>
  );
}

function StateCount({ state, count }: { readonly state: HealthState; readonly count: number }) {
  if (count === 0) return <span class="t3">0</span>;
  const isBad = state === 'failing' || state === 'quiet';
  return isBad ? <State sign={lookOfHealth(state)[0]}>{count}</State> : <span>{count}</span>;
}

/** Counts the states of each factory's webhooks, the worst factories first. Those that never got a delivery are not in the overview. */
function countStates(factories: FactoryList['factories'], overview: HealthOverview): FactoryRow[] {
  const seen = new Map(overview.factories.map(({ factory, counts }) => [factory, counts]));
  const rows = factories.map(({ factory, webhooks }) => {
    const counts: Record<HealthState, number> = { failing: 0, quiet: 0, healthy: 0, 'never seen': 0 };
    for (const { state, webhooks } of seen.get(factory) ?? []) counts[state] += webhooks;
    const counted = healthStates.reduce((sum, state) => sum + counts[state], 0);
    counts['never seen'] += Math.max(0, webhooks - counted);
    return { factory, counts };
  });
  return rows.sort(({ counts: one }, { counts: other }) => {
    return other.failing - one.failing || other.quiet - one.quiet;
  });
}
