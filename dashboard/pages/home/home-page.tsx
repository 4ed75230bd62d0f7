import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Account, FactoryList, HealthOverview } from '../../api-types.ts';
import { SpanChoice } from '../../parts/chart/span-choice.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { redirectTo } from '../../state/current-location.ts';
import { parseHref } from '../../state/page-location.ts';
import type { Loading } from '../../state/use-load.ts';
import { usePolled } from '../../state/use-polled.ts';
import type { Span } from '../../text/delivery-bars.ts';
import { AttentionList } from './attention-list.tsx';
import { FactoryHealth } from './factory-health.tsx';
import { countStates, FactoryHealthList } from './factory-health-list.tsx';
import { StateCounts } from './state-counts.tsx';

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
      redirectTo({ page: 'automations', factory: empty });
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
      <PageHeading title="Health">
        <div class="push">
          <SpanChoice span={span} onChange={setSpan} />
        </div>
      </PageHeading>
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
