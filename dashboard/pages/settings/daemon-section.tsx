import type { ShownDaemon, ShownStatus } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { CopyButton } from '../../parts/copyable.tsx';
import { ListTable, Waiting } from '../../parts/lists.tsx';
import { Code, Fact, Facts, Moment, Size, Text } from '../../parts/text.tsx';
import { useLoad } from '../../state/loading.ts';
import { formatCount } from '../../text/format-values.ts';

interface Properties {
  readonly status: ShownStatus;
}

/** The daemon that answers: what it is, where it keeps everything, and its limits. */
export function DaemonSection({ status: { replicas } }: Properties) {
  const { value, error, reload } = useLoad(signal => callApi('get', '/daemon', { signal }), []);
  if (!value) return <Waiting error={error} reload={reload} what="the daemon" />;
  const { version, startedAt, store, ingressUrl, managementUrl, runners } = value;
  return (
    <>
      <div class="sec">
        <h2>Daemon</h2>
      </div>
      <Facts>
        <Fact term="Version">{version}</Fact>
        <Fact term="Started">
          <Moment at={startedAt} />
        </Fact>
        <Fact term="Store">{store === 'postgresql' ? 'PostgreSQL' : 'a home on one machine'}</Fact>
        {replicas?.standbyLagMs != null && (
          <Fact term="Standby">{replicas.standbyLagMs.toLocaleString('en')} ms behind</Fact>
        )}
        <Fact term="Ingress">
          <Address url={ingressUrl} what="ingress URL" />
        </Fact>
        {managementUrl !== null && (
          <Fact term="Management">
            <Address url={managementUrl} what="management URL" />
          </Fact>
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
      <div class="sec">
        <h2>Limits</h2>
      </div>
      <Facts>
        <Fact term="Body">
          <Size bytes={limits.bodyBytes} />
        </Fact>
        <Fact term="Deliveries">
          {limits.deliveriesPerMinute.toLocaleString('en')} a minute, of each webhook
        </Fact>
        <Fact term="Request">{limits.requestSeconds} s</Fact>
        <Fact term="Management API">
          {limits.apiRequestsPerMinute.toLocaleString('en')} requests a minute, of each caller
        </Fact>
        <Fact term="Kept">
          each delivery for {formatCount(retention.days, 'day')}, and the newest{' '}
          {retention.deliveries.toLocaleString('en')} of each webhook
        </Fact>
      </Facts>
      <p class="hint">The daemon’s configuration file and flags set them.</p>
    </section>
  );
}

type Alive = NonNullable<ShownStatus['replicas']>['alive'];

function Replicas({ alive }: { readonly alive: Alive }) {
  return (
    <section>
      <div class="sec">
        <h2>Replicas</h2>
        <span class="t3">{alive.length} alive</span>
      </div>
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
      <div class="sec">
        <h2>Runners</h2>
      </div>
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
