import { callApi } from '../../api-client.ts';
import type { ListedActivity, ListedWebhook, ShownHealth } from '../../api-types.ts';
import { Sparkline } from '../../parts/chart/bars.tsx';
import { HealthPill, WebhookStatePill } from '../../parts/health-pill.tsx';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { AutomationsHeading } from '../../parts/page-heading.tsx';
import { OutcomePill } from '../../parts/pills.tsx';
import { Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSchemes } from '../../state/loaded-objects.ts';
import { usePolled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { authModeLabels, getSchemeLabel } from '../../text/sender-labels.ts';

const listEveryMs = 30_000;
const activityEveryMs = 60_000;

export function WebhooksPage() {
  const { factory, mayManage, managedHere } = useFactory();
  const { value, error, reload } = usePolled(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
    listEveryMs,
  );
  return (
    <>
      <AutomationsHeading tab="webhooks">
        {mayManage && (
          <a class="button primary" href={toHref({ page: 'new-webhook', factory })}>
            {managedHere ? 'Create webhook' : 'Draft webhook'}
          </a>
        )}
      </AutomationsHeading>
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
  const activity = usePolled(
    signal => callApi('get', '/factories/{factory}/activity', { factory, signal }),
    [factory],
    activityEveryMs,
  );
  const health = usePolled(
    signal => callApi('get', '/factories/{factory}/health', { factory, signal }),
    [factory],
    listEveryMs,
  );
  const schemes = useSchemes().value;
  const byUid = new Map(activity.value?.webhooks.map(each => [each.uid, each]));
  const healthOf = new Map(health.value?.webhooks.map(each => [each.uid, each.health]));
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
              <StateCell webhook={webhook} health={healthOf.get(webhook.uid)} />
            </td>
            <td>
              {authModeLabels[webhook.authMode]}
              {webhook.signatureScheme !== null && (
                <span class="muted"> · {getSchemeLabel(webhook.signatureScheme, schemes)}</span>
              )}
            </td>
            <ActivityCells activity={byUid.get(webhook.uid)} loading={activity.value === undefined} />
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

interface StateProperties {
  readonly webhook: ListedWebhook;
  readonly health: ShownHealth | null | undefined;
}

/** Only a webhook that can accept deliveries has a health. */
function StateCell({ webhook, health }: StateProperties) {
  const { enabled, credential } = webhook;
  if (enabled && credential === 'set' && health) return <HealthPill health={health} />;
  return <WebhookStatePill webhook={webhook} />;
}

interface ActivityProperties {
  readonly activity: ListedActivity | undefined;
  readonly loading: boolean;
}

function ActivityCells({ activity, loading }: ActivityProperties) {
  return (
    <>
      <td>
        {activity?.lastDelivery ? (
          <span class="pair">
            <Time at={activity.lastDelivery.at} />
            <OutcomePill outcome={activity.lastDelivery.outcome} />
          </span>
        ) : (
          <span class="muted">{loading ? '…' : 'none yet'}</span>
        )}
      </td>
      <td>{activity && <Sparkline bars={activity.hours.map(kinds => ({ kinds }))} time="24 hours" />}</td>
    </>
  );
}
