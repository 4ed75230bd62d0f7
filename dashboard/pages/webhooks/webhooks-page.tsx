import { callApi } from '../../api-client.ts';
import type { Webhook, WebhookActivity } from '../../api-types.ts';
import { AutomationsHeading } from '../../parts/automations-heading.tsx';
import { OutcomePill } from '../../parts/outcome-pill.tsx';
import { Empty, Waiting } from '../../parts/problem-notice.tsx';
import { Time } from '../../parts/time.tsx';
import { WebhookState } from '../../parts/webhook-state-pill.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { hrefOf } from '../../state/page-location.ts';
import { useInterval } from '../../state/use-interval.ts';
import { useLoad } from '../../state/use-load.ts';
import { modeWords, schemeWords } from '../../text/sender-labels.ts';
import { Sparkline } from './sparkline.tsx';

const listEveryMs = 30_000;
const activityEveryMs = 60_000;

export function WebhooksPage() {
  const { factory, mayManage, managedHere } = useFactory();
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
  );
  useInterval(reload, listEveryMs);
  return (
    <>
      <AutomationsHeading tab="webhooks">
        {mayManage && (
          <a class="button primary" href={hrefOf({ page: 'new-webhook', factory })}>
            {managedHere ? 'Create webhook' : 'Write a webhook'}
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
        A webhook is a URL to which another system posts JSON. Automations listen to it.{' '}
        {!mayManage && 'Your token may only read: ask somebody who manages this factory to create one.'}
      </p>
    </Empty>
  );
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const { factory } = useFactory();
  const activity = useLoad(
    signal => callApi('get', '/factories/{factory}/activity', { factory, signal }),
    [factory],
  );
  useInterval(activity.reload, activityEveryMs);
  const schemes = useLoad(signal => callApi('get', '/schemes', { signal }), []).value?.schemes;
  const byUid = new Map(activity.value?.webhooks.map(each => [each.uid, each]));
  return (
    <div class="card">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">State</th>
            <th scope="col">Authentication</th>
            <th scope="col">Last delivery</th>
            <th scope="col">24 hours</th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map(webhook => (
            <tr key={webhook.uid}>
              <th scope="row">
                <a href={hrefOf({ page: 'webhook', factory, id: webhook.uid })}>
                  <bdi>{webhook.name}</bdi>
                </a>
              </th>
              <td>
                <WebhookState webhook={webhook} />
              </td>
              <td>
                {modeWords[webhook.authMode]}
                {webhook.signatureScheme !== null && (
                  <span class="muted"> · {schemeWords(webhook.signatureScheme, schemes)}</span>
                )}
              </td>
              <Activity of={byUid.get(webhook.uid)} loading={activity.value === undefined} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Activity({ of, loading }: { readonly of: WebhookActivity | undefined; readonly loading: boolean }) {
  return (
    <>
      <td>
        {of?.lastDelivery ? (
          <span class="pair">
            <Time at={of.lastDelivery.at} />
            <OutcomePill outcome={of.lastDelivery.outcome} />
          </span>
        ) : (
          <span class="muted">{loading ? '…' : 'no delivery yet'}</span>
        )}
      </td>
      <td>{of && <Sparkline hours={of.hours} />}</td>
    </>
  );
}
