import { callApi } from '../../api-client.ts';
import type { ListedWebhook, TalliedWebhook } from '../../api-types.ts';
import { Sparkline } from '../../parts/chart/bars.tsx';
import { HealthPill, WebhookStatePill } from '../../parts/health-pill.tsx';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { OutcomePill } from '../../parts/pills.tsx';
import { Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSchemes } from '../../state/loaded-objects.ts';
import { usePolled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { spans, toBars } from '../../text/delivery-bars.ts';
import { authModeLabels, getSchemeLabel } from '../../text/sender-labels.ts';

const listEveryMs = 30_000;

export function WebhooksPage() {
  const { factory, mayManage, managedHere } = useFactory();
  const { value, error, reload } = usePolled(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
    listEveryMs,
  );
  return (
    <>
      <PageHeading
        title="Webhooks"
        actions={
          mayManage && (
            <a class="btn primary" href={toHref({ page: 'new-webhook', factory })}>
              {managedHere ? 'Create webhook' : 'Draft webhook'}
            </a>
          )
        }
      />
      {!value ? (
        <Waiting error={error} reload={reload} what="webhooks" />
      ) : value.webhooks.length === 0 ? (
        <NoWebhooks />
      ) : (
        <WebhookTable webhooks={value.webhooks} />
      )}
    </>
  );
}

function NoWebhooks() {
  const { mayManage } = useFactory();
  return (
    <Empty title="No webhooks yet">
      <p>
        A webhook is a URL that another system posts JSON to. Automations listen to it.{' '}
        {!mayManage && 'You need the manage permission to create one.'}
      </p>
    </Empty>
  );
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly ListedWebhook[] }) {
  const { factory } = useFactory();
  const health = usePolled(
    signal => callApi('get', '/factories/{factory}/health', { factory, signal }),
    [factory],
    listEveryMs,
  );
  const schemes = useSchemes().value;
  const byUid = new Map(health.value?.webhooks.map(each => [each.uid, each]));
  return (
    <div class="card">
      <ListTable columns={['Webhook', 'State', 'Authentication', 'Last delivery', '24 hours']}>
        {webhooks.map(webhook => (
          <tr key={webhook.uid}>
            <th scope="row">
              <a href={toHref({ page: 'webhook', factory, id: webhook.uid })}>
                <bdi>{webhook.name}</bdi>
              </a>
            </th>
            <td>
              <StateCell webhook={webhook} health={byUid.get(webhook.uid)?.health} />
            </td>
            <td>
              {authModeLabels[webhook.authMode]}
              {webhook.signatureScheme !== null && (
                <span class="t3"> · {getSchemeLabel(webhook.signatureScheme, schemes)}</span>
              )}
            </td>
            <DeliveryCells since={health.value?.since} webhook={byUid.get(webhook.uid)} />
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

interface StateProperties {
  readonly webhook: ListedWebhook;
  readonly health: TalliedWebhook['health'] | undefined;
}

/** Only a webhook that can accept deliveries has a health. */
function StateCell({ webhook, health }: StateProperties) {
  const { enabled, credential } = webhook;
  if (enabled && credential === 'set' && health) return <HealthPill health={health} />;
  return <WebhookStatePill webhook={webhook} />;
}

interface DeliveryProperties {
  /** When the first hour of the tallies begins; undefined while they are loaded. */
  readonly since: string | undefined;
  readonly webhook: TalliedWebhook | undefined;
}

function DeliveryCells({ since, webhook }: DeliveryProperties) {
  return (
    <>
      <td>
        {webhook?.lastDelivery ? (
          <span class="pair">
            <Time at={webhook.lastDelivery.at} />
            <OutcomePill outcome={webhook.lastDelivery.outcome} />
          </span>
        ) : (
          <span class="t3">{since === undefined ? '…' : 'none yet'}</span>
        )}
      </td>
      <td>
        {since !== undefined && webhook && (
          <Sparkline bars={toBars(since, webhook.tallies, 'day')} time={spans.day.label} />
        )}
      </td>
    </>
  );
}
