import type { ShownDaemon, ShownStatus } from '../../api-answers.ts';
import { CopyButton } from '../../parts/copyable.tsx';
import { ListTable, Sec, Waiting } from '../../parts/lists.tsx';
import { Code, Fact, Facts, Moment, Size, Text } from '../../parts/text.tsx';
import { useApi } from '../../state/loading.ts';
import { formatCount } from '../../text/format-values.ts';

interface Properties {
  readonly status: ShownStatus;
}

/** The daemon that answers: what it is, where it keeps everything, and its limits. */
export function DaemonSection({ status: { replicas } }: Properties) {
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

function Replicas({ alive }: { readonly alive: Alive }) {
  return (
    <section>
      <Sec title="Replicas">
        <span class="t3">{alive.length} alive</span>
      </Sec>
      <ListTable kind="plain" columns={['Replica', 'Started', ['Runs', 'right']]}>
        {alive.map(({ id, startedAt, runs }) => (
          <tr key={id}>
            <td>
              <Code text={id} />
            </td>
            <td class="t2">
              <Moment at={startedAt} />
            </td>
            <td class="right t2">{runs}</td>
          </tr>
        ))}
      </ListTable>
    </section>
  );
}

function Runners({ runners }: Pick<ShownDaemon, 'runners'>) {
  return (
    <section>
      <Sec title="Runners" />
      {runners.length === 0 ? (
        <p class="t3">No runner: runs stay queued.</p>
      ) : (
        <ListTable kind="plain" columns={['Runner', 'Kind', ['At the same time', 'right']]}>
          {runners.map(({ name, kind, concurrency }) => (
            <tr key={name}>
              <td class="name">
                <Text text={name} />
              </td>
              <td class="t2">{kind}</td>
              <td class="right t2">{formatCount(concurrency, 'run')}</td>
            </tr>
          ))}
        </ListTable>
      )}
    </section>
  );
}
