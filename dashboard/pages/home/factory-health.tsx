import { callApi } from '../../api-client.ts';
import type { TalliedWebhook } from '../../api-types.ts';
import { Sparkline } from '../../parts/chart/bars.tsx';
import { DeliveryChart } from '../../parts/chart/delivery-chart.tsx';
import { HealthPill } from '../../parts/health-pill.tsx';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { Pill } from '../../parts/pills.tsx';
import { Time } from '../../parts/text.tsx';
import { usePolled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { type Span, spans, toBars } from '../../text/delivery-bars.ts';

const healthEveryMs = 60_000;

interface Properties {
  readonly factory: string;
  readonly span: Span;
}

/** The health of each webhook of a factory, the worst first, and a chart of all their deliveries. */
export function FactoryHealth({ factory, span }: Properties) {
  const { value, error, reload } = usePolled(
    signal => callApi('get', '/factories/{factory}/health', { factory, signal }),
    [factory],
    healthEveryMs,
  );
  if (!value) return <Waiting error={error} reload={reload} what="the health of the factory" />;
  const { since, webhooks } = value;
  return (
    <div class="stack">
      <p>
        <a href={toHref({ page: 'automations', factory })}>
          Automations and webhooks of <bdi>{factory}</bdi>
        </a>
      </p>
      {webhooks.length === 0 ? (
        <Empty title="No webhooks yet" />
      ) : (
        <>
          <DeliveryChart
            name={factory}
            since={since}
            tallies={webhooks.flatMap(({ tallies }) => tallies)}
            span={span}
          />
          <WebhookTable factory={factory} since={since} webhooks={webhooks} span={span} />
        </>
      )}
    </div>
  );
}

interface TableProperties extends Properties {
  readonly since: string;
  readonly webhooks: readonly TalliedWebhook[];
}

function WebhookTable({ factory, since, webhooks, span }: TableProperties) {
  return (
    <ListTable columns={['Webhook', 'Health', 'Last accepted', spans[span].label]}>
      {webhooks.toSorted(byUrgency).map(({ name, uid, health, lastGoodAt, tallies }) => (
        <tr key={uid}>
          <th scope="row">
            <a href={toHref({ page: 'webhook', factory, id: uid })}>
              <bdi>{name}</bdi>
            </a>
          </th>
          <td>{health ? <HealthPill health={health} /> : <Pill tone="quiet">Disabled</Pill>}</td>
          <td>{lastGoodAt === null ? <span class="t3">none yet</span> : <Time at={lastGoodAt} />}</td>
          <td>
            <Sparkline bars={toBars(since, tallies, span)} time={spans[span].label} />
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

const urgency = { failing: 0, quiet: 1, healthy: 2, 'never seen': 2 } as const;

function byUrgency({ health: one }: TalliedWebhook, { health: other }: TalliedWebhook): number {
  return urgency[one?.state ?? 'healthy'] - urgency[other?.state ?? 'healthy'];
}
