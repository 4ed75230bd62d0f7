import type { ShownDaemon, ShownStatus } from '../../api-answers.ts';
import { CopyButton } from '../../parts/copyable.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { type Column, Sec, Table } from '../../parts/tables.tsx';
import { Code, Fact, Facts, Moment, Size, Text } from '../../parts/text.tsx';
import { useApi } from '../../state/use-api.ts';
import { formatCount } from '../../text/format-values.ts';

/** The daemon that answers: what it is, where it keeps everything, and its limits. */
export function DaemonSection({ status: { replicas } }: { readonly status: ShownStatus }) {
  const { value, error, reload } = useApi('/daemon', {});
  if (!value) return <Waiting error={error} reload={reload} what="the daemon" />;
  const { version, startedAt, store, ingressUrl, managementUrl, runners } = value;
  return (
    <>
      <Sec title="Daemon" />
      <Facts>
        <Fact term="Version" value={version} />
        <Fact term="Started" value={<Moment at={startedAt} />} />
        <Fact term="Store" value={store === 'postgresql' ? 'PostgreSQL' : 'a home on one machine'} />
        {replicas?.standbyLagMs != null && (
          <Fact term="Standby" value={`${replicas.standbyLagMs.toLocaleString('en')} ms behind`} />
        )}
        <Fact term="Ingress" value={<Address url={ingressUrl} what="ingress URL" />} />
        {managementUrl !== null && (
          <Fact term="Management" value={<Address url={managementUrl} what="management URL" />} />
        )}
      </Facts>
      {replicas && <Replicas alive={replicas.alive} />}
      <Limits daemon={value} />
      <Runners runners={runners} />
    </>
  );
}

function Address({ url, what }: { readonly url: string; readonly what: string }) {
  return (
    <span class="flow">
      <Code text={url} />
      <CopyButton text={url} what={what} kind="icon" />
    </span>
  );
}

function Limits({ daemon: { limits, retention } }: { readonly daemon: ShownDaemon }) {
  return (
    <section>
      <Sec title="Limits" />
      <Facts>
        <Fact term="Body" value={<Size bytes={limits.bodyBytes} />} />
        <Fact
          term="Deliveries"
          value={`${limits.deliveriesPerMinute.toLocaleString('en')} a minute, of each webhook`}
        />
        <Fact term="Request" value={`${limits.requestSeconds} s`} />
        <Fact
          term="Management API"
          value={`${limits.apiRequestsPerMinute.toLocaleString('en')} requests a minute, of each caller`}
        />
        <Fact
          term="Kept"
          value={`each delivery for ${formatCount(retention.days, 'day')}, and the newest ${retention.deliveries.toLocaleString('en')} of each webhook`}
        />
      </Facts>
      <p class="hint">The daemon’s configuration file and flags set them.</p>
    </section>
  );
}

type Alive = NonNullable<ShownStatus['replicas']>['alive'];

const replicaColumns: readonly Column<Alive[number]>[] = [
  { head: 'Replica', cell: ({ id }) => <Code text={id} /> },
  { head: 'Started', look: 't2', cell: ({ startedAt }) => <Moment at={startedAt} /> },
  { head: 'Runs', class: 'right', look: 't2', cell: ({ runs }) => runs },
];

function Replicas({ alive }: { readonly alive: Alive }) {
  return (
    <section>
      <Sec title="Replicas">
        <span class="t3">{alive.length} alive</span>
      </Sec>
      <Table columns={replicaColumns} rows={alive} keyOf={({ id }) => id} />
    </section>
  );
}

const runnerColumns: readonly Column<ShownDaemon['runners'][number]>[] = [
  { head: 'Runner', look: 'name', cell: ({ name }) => <Text text={name} /> },
  { head: 'Kind', look: 't2', cell: ({ kind }) => kind },
  {
    ...{ head: 'At the same time', class: 'right', look: 't2' },
    cell: ({ concurrency }) => formatCount(concurrency, 'run'),
  },
];

function Runners({ runners }: Pick<ShownDaemon, 'runners'>) {
  return (
    <section>
      <Sec title="Runners" />
      {runners.length === 0 ? (
        <p class="t3">No runner: runs stay queued.</p>
      ) : (
        <Table columns={runnerColumns} rows={runners} keyOf={({ name }) => name} />
      )}
    </section>
  );
}
