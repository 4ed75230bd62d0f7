import { useEffect } from 'preact/hooks';
import { type HealthState, healthStates } from '../../../schema/health.ts';
import type { Account, FactoryList, HealthOverview } from '../../api-answers.ts';
import { Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { State } from '../../parts/signs.tsx';
import { type Column, Count, LinkTable, Sec } from '../../parts/tables.tsx';
import { Link } from '../../parts/text.tsx';
import { attention, knownAlerts } from '../../state/attention.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useFactoryDays } from '../../state/loaded-objects.ts';
import { areSettled, type Loading } from '../../state/loading.ts';
import { parseHref } from '../../state/page-location.ts';
import { useApi } from '../../state/use-api.ts';
import { lookOfHealth } from '../../text/looks.ts';
import { AttentionList } from '../overview/attention-list.tsx';
import { useDetails } from '../overview/explain-item.tsx';
import { Overview, Verdict } from '../overview/overview.tsx';

const countsEveryMs = 30_000;
/** The factory that the command line uses by default. It need not exist yet. */
const defaultFactory = 'default';
/** Up to how many factories and webhooks all deliveries are added up. Of more, only states are counted. */
const addedFactoriesMax = 10;
const addedWebhooksMax = 200;

interface Properties {
  readonly account: Account;
  readonly factories: Loading<FactoryList>;
}

/** How all factories do. If there is only one, its overview takes the place of this page. */
export function HomePage({ account, factories: { value, error, reload } }: Properties) {
  const known = value?.factories;
  const only =
    known !== undefined && known.length < 2
      ? (known[0]?.factory ?? account.grants[0]?.factory ?? defaultFactory)
      : undefined;
  useEffect(() => {
    // The user may have gone to another page in the meantime.
    if (only !== undefined && parseHref(location.hash).page === 'home') {
      redirectTo({ page: 'overview', factory: only });
    }
  }, [only]);
  if (only !== undefined) return null;
  if (!known || !knownAlerts.value) return <Waiting error={error} reload={reload} what="the factories" />;
  const webhooks = known.reduce((sum, factory) => sum + factory.webhooks, 0);
  const isFew = known.length <= addedFactoriesMax && webhooks <= addedWebhooksMax;
  return isFew ? <FewFactories factories={known} /> : <ManyFactories factories={known} />;
}

interface FactoriesProperties {
  readonly factories: FactoryList['factories'];
}

const allWell = 'Every webhook of every factory sends as usual, and no run waits for you.';

function FewFactories({ factories }: FactoriesProperties) {
  const { value, error, reload } = useFactoryDays(factories.map(({ factory }) => factory));
  if (!value) return <Waiting error={error} reload={reload} what="the factories" />;
  return (
    <>
      <ProblemNotice error={error} retry={reload} />
      <Overview days={value} allWell={allWell} />
    </>
  );
}

/** Reads no factory: what needs attention, and one count for each state of webhooks. */
function ManyFactories({ factories }: FactoriesProperties) {
  const { value, error, reload } = useApi('/health', {}, countsEveryMs);
  const details = useDetails(attention.value);
  if (!value || !areSettled(details)) return <Waiting error={error} reload={reload} what="the factories" />;
  return (
    <div class="page">
      <ProblemNotice error={error} retry={reload} />
      <Verdict sub={`${factories.length} factories`} />
      <AttentionList items={attention.value} isNamed details={details.value ?? new Map()} />
      <FactoryTable factories={factories} overview={value} />
    </div>
  );
}

/** How many webhooks are in each state. */
type Counts = Readonly<Record<HealthState, number>>;

interface FactoryRow {
  readonly factory: string;
  readonly counts: Counts;
}

interface TableProperties {
  readonly factories: FactoryList['factories'];
  readonly overview: HealthOverview;
}

/** The factories, the worst first, with the number of their webhooks in each state. */
function FactoryTable({ factories, overview }: TableProperties) {
  return (
    <section>
      <Sec title="Factories" />
      <LinkTable
        columns={columns}
        rows={countStates(factories, overview)}
        keyOf={({ factory }) => factory}
        class="factories"
      />
    </section>
  );
}

const columns: readonly Column<FactoryRow>[] = [
  {
    head: 'Factory',
    cell: ({ factory }) => <Link class="stretch name" to={{ page: 'overview', factory }} text={factory} />,
  },
  stateColumn('failing', 'Failing'),
  stateColumn('quiet', 'Quiet'),
  stateColumn('healthy', 'Healthy'),
  { ...stateColumn('never seen', 'Waiting'), class: 'right no-phone' },
  {
    ...{ head: 'Alerts', class: 'right no-phone' },
    cell: ({ factory }) => (
      <Count count={knownAlerts.value?.alerts.filter(alert => alert.factory === factory).length ?? 0} />
    ),
  },
];

function stateColumn(state: HealthState, head: string): Column<FactoryRow> {
  return {
    ...{ head, class: 'right' },
    cell: ({ counts }) => <StateCount state={state} count={counts[state]} />,
  };
}

function StateCount({ state, count }: { readonly state: HealthState; readonly count: number }) {
  const isBad = count > 0 && (state === 'failing' || state === 'quiet');
  return isBad ? <State sign={lookOfHealth(state)[0]}>{count}</State> : <Count count={count} />;
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
