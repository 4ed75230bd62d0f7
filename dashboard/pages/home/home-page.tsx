import { useEffect } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Account, FactoryList } from '../../api-types.ts';
import { Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { attention, knownAlerts } from '../../state/attention.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useFactoryDays } from '../../state/loaded-objects.ts';
import { areSettled, type Loading, usePolled } from '../../state/loading.ts';
import { parseHref } from '../../state/page-location.ts';
import { AttentionList } from '../overview/attention-list.tsx';
import { useDetails } from '../overview/explain-item.tsx';
import { Overview, Verdict } from '../overview/overview.tsx';
import { FactoryTable } from './factory-table.tsx';

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
  const { value, error, reload } = usePolled(
    signal => callApi('get', '/health', { signal }),
    [],
    countsEveryMs,
  );
  const details = useDetails(attention.value);
  if (!value || !areSettled(details)) return <Waiting error={error} reload={reload} what="the factories" />;
  return (
    <div class="page">
      <ProblemNotice error={error} retry={reload} />
      <Verdict sub={`${factories.length} factories`} />
      <AttentionList isNamed details={details.value ?? new Map()} />
      <FactoryTable factories={factories} overview={value} />
    </div>
  );
}
