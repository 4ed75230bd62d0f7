import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Account, FactoryList, HealthOverview } from '../../api-types.ts';
import { SpanChoice } from '../../parts/chart/delivery-chart.tsx';
import { HealthPill } from '../../parts/health-pill.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Time } from '../../parts/text.tsx';
import { redirectTo } from '../../state/current-location.ts';
import { type Loading, usePolled } from '../../state/loading.ts';
import { parseHref, toHref } from '../../state/page-location.ts';
import type { Span } from '../../text/delivery-bars.ts';
import { FactoryHealth } from './factory-health.tsx';
import { countStates, FactoryHealthList, StateCounts } from './factory-health-list.tsx';

const overviewEveryMs = 30_000;
/** The factory that the command line uses by default. It need not exist yet. */
const defaultFactory = 'default';

interface Properties {
  readonly account: Account;
  readonly factories: Loading<FactoryList>;
}

/** Shows how all webhooks do, those in which something may be wrong first. Without any webhook, it goes to the factory. */
export function HomePage({ account, factories: { value, error, reload } }: Properties) {
  const known = value?.factories;
  const isEmpty = known !== undefined && known.length < 2 && !known[0]?.webhooks;
  const empty = isEmpty ? (known[0]?.factory ?? account.grants[0]?.factory ?? defaultFactory) : undefined;
  useEffect(() => {
    // The user may have gone to another page in the meantime.
    if (empty !== undefined && parseHref(location.hash).page === 'home') {
      redirectTo({ page: 'overview', factory: empty });
    }
  }, [empty]);
  if (empty !== undefined) return null;
  if (!known) return <Waiting error={error} reload={reload} what="the factories" />;
  return <Health factories={known} />;
}

type Factories = FactoryList['factories'];

function Health({ factories }: { readonly factories: Factories }) {
  const [span, setSpan] = useState<Span>('day');
  const { value, error, reload } = usePolled(
    signal => callApi('get', '/health', { signal }),
    [],
    overviewEveryMs,
  );
  return (
    <>
      <PageHeading title="Health" actions={<SpanChoice span={span} onChange={setSpan} />} />
      {!value ? (
        <Waiting error={error} reload={reload} what="the health of webhooks" />
      ) : (
        <>
          <ProblemNotice error={error} retry={reload} />
          <Overview factories={factories} overview={value} span={span} />
        </>
      )}
    </>
  );
}

interface OverviewProperties {
  readonly factories: Factories;
  readonly overview: HealthOverview;
  readonly span: Span;
}

function Overview({ factories, overview, span }: OverviewProperties) {
  const [only, ...others] = factories;
  if (only && others.length === 0) {
    return (
      <section class="card padded">
        <FactoryHealth factory={only.factory} span={span} />
      </section>
    );
  }
  const rows = countStates(factories, overview);
  return (
    <>
      <StateCounts counts={rows.map(({ counts }) => counts)} />
      <AttentionList overview={overview} />
      <FactoryHealthList rows={rows} span={span} />
    </>
  );
}

/** The webhooks of all factories that are failing or quiet. */
function AttentionList({ overview: { unhealthy, hasMore } }: { readonly overview: HealthOverview }) {
  if (unhealthy.length === 0) return <p class="t3">No webhook is failing or unusually quiet.</p>;
  return (
    <section>
      <div class="section-heading">
        <h2>Needs attention</h2>
      </div>
      <ul class="card rows">
        {unhealthy.map(({ factory, name, uid, health }) => (
          <li key={uid} class="row link-row">
            <a href={toHref({ page: 'webhook', factory, id: uid })}>
              <bdi>{name}</bdi>
            </a>
            <span class="t3">
              <bdi>{factory}</bdi>
            </span>
            {health.since !== null && (
              <span class="push t3">
                since <Time at={health.since} />
              </span>
            )}
            <div class="whole">
              <HealthPill health={health} />
            </div>
          </li>
        ))}
      </ul>
      {hasMore && <p class="t3">More webhooks are failing or quiet than are listed here.</p>}
    </section>
  );
}
