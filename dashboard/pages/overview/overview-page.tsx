import type { ShownAlert, ShownStatus } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Link, Text } from '../../parts/text.tsx';
import { knownAlerts } from '../../state/attention.ts';
import { type FactoryDays, isUntouched, useFactoryDays } from '../../state/loaded-objects.ts';
import { areSettled, type Loading, useLoad } from '../../state/loading.ts';
import { nowMs } from '../../state/time.ts';
import { formatLength } from '../../text/format-time.ts';
import { formatCount } from '../../text/format-values.ts';
import { sayAlert } from '../../text/sentences.ts';
import { EmptyFactory } from './empty-factory.tsx';
import { Overview } from './overview.tsx';
import { isWaiting } from './webhook-table.tsx';

interface Properties {
  readonly status: ShownStatus;
}

/** How a factory does; until its first delivery, how it gets one. */
export function OverviewPage({ status }: Properties) {
  const { value, error, reload } = useFactoryDays([status.factory]);
  const [days] = value ?? [];
  const last = useLastEpisode(status.factory);
  if (!days || !knownAlerts.value || !areSettled(last))
    return <Waiting error={error} reload={reload} what="the overview" />;
  if (isUntouched(days)) return <EmptyFactory days={days} />;
  return (
    <>
      <ProblemNotice error={error} retry={reload} />
      <Overview days={[days]} allWell={<AllWell status={status} days={days} last={last.value} />} />
    </>
  );
}

interface WellProperties extends Properties {
  readonly days: FactoryDays;
  readonly last: ShownAlert | null | undefined;
}

/** What is well, and what was wrong last. */
function AllWell({ status, days, last }: WellProperties) {
  const { reconcile, revision } = status;
  const waiting = days.health.webhooks.filter(isWaiting).length;
  return (
    <>
      {waiting === 0
        ? 'Every webhook sends as usual'
        : `${formatCount(waiting, 'webhook')} ${waiting === 1 ? 'waits' : 'wait'} for the first delivery, every other one sends as usual`}
      , {reconcile && revision !== null ? 'no run waits for you, and ' : 'and no run waits for you'}
      {reconcile && revision !== null && (
        <>
          <Text class="mono t2" text={reconcile.followed.branch} /> is applied at{' '}
          <span class="mono t2">{revision.slice(0, 7)}</span>
        </>
      )}
      . {last && <LastEpisode factory={status.factory} last={last} />}
    </>
  );
}

/** What was wrong last; null if nothing was. */
function useLastEpisode(factory: string): Loading<ShownAlert | null> {
  return useLoad(
    async signal => {
      const { alerts } = await callApi('get', '/factories/{factory}/alerts', { factory, signal });
      return alerts.find(({ status }) => status === 'resolved') ?? null;
    },
    [factory, knownAlerts.value?.alerts.length],
  );
}

function LastEpisode({ factory, last }: { readonly factory: string; readonly last: ShownAlert }) {
  if (!last.until) return null;
  return (
    <>
      The last episode ended {formatLength(nowMs.value - Date.parse(last.until))} ago:{' '}
      <Link class="t2 link" to={{ page: 'settings', factory, id: 'alerts' }} text={sayAlert(last)} />.
    </>
  );
}
