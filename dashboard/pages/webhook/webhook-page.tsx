import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { WebhookStatePill } from '../../parts/health-pill.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { DeliveryList } from '../../parts/log/delivery-list.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { SetupSteps } from '../../parts/setup-steps.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad, usePolled } from '../../state/loading.ts';
import { AboutWebhook, HealthCard, WebhookFile } from './about-webhook.tsx';
import { SenderCard } from './sender-card.tsx';
import { EnabledSwitch, WebhookActions } from './webhook-actions.tsx';
import { WhyCard } from './why-card.tsx';

const webhookEveryMs = 30_000;

export function WebhookPage({ uid }: { readonly uid: string }) {
  const { factory } = useFactory();
  const webhook = usePolled(
    signal => callApi('get', '/factories/{factory}/webhooks/{uid}', { factory, uid, signal }),
    [factory, uid],
    webhookEveryMs,
  );
  if (!webhook.value) return <Waiting error={webhook.error} reload={webhook.reload} what="the webhook" />;
  return <WebhookContent webhook={webhook.value} onChanged={webhook.put} />;
}

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

function WebhookContent({ webhook, onChanged }: Properties) {
  const { factory, mayManage, managedHere } = useFactory();
  const lacksSecret = webhook.credential === 'not set';
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading
        title={webhook.name}
        actions={
          <>
            {(!mayManage || lacksSecret) && <WebhookStatePill webhook={webhook} />}
            {mayManage && (
              <div class="actions push">
                <EnabledSwitch webhook={webhook} onChanged={onChanged} />
                {managedHere && <WebhookActions webhook={webhook} onChanged={onChanged} />}
              </div>
            )}
          </>
        }
      />
      <WhyCard webhook={webhook} />
      {webhook.sender && <SenderCard webhook={webhook} />}
      <HealthCard uid={webhook.uid} name={webhook.name} />
      {lacksSecret && <p class="notice warn">{describeMissingSecret(webhook, managedHere)}</p>}
      <Definition webhook={webhook} />
      <DeliveryList fixed={{ webhook: webhook.uid }} />
    </>
  );
}

/** The set-up and the definition. Folded away once there are deliveries, which are looked at more often. */
function Definition({ webhook }: { readonly webhook: ShownWebhook }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal =>
      callApi('get', '/factories/{factory}/deliveries', {
        factory,
        query: { webhook: webhook.uid, limit: 1 },
        signal,
      }),
    [factory, webhook.uid],
  );
  const [chosen, setChosen] = useState<boolean>();
  if (!value) return <Waiting error={error} reload={reload} what="the set-up" />;
  const open = chosen ?? (value.deliveries.length === 0 || webhook.credential === 'not set');
  return (
    <>
      <h2>
        <button type="button" class="opener" aria-expanded={open} onClick={() => setChosen(!open)}>
          Set-up and definition
        </button>
      </h2>
      {open && (
        <>
          <AboutWebhook webhook={webhook} />
          <SenderSetup webhook={webhook} />
          <WebhookFile webhook={webhook} />
        </>
      )}
    </>
  );
}

function SenderSetup({ webhook }: { readonly webhook: ShownWebhook }) {
  const [open, setOpen] = useState(webhook.credential === 'not set');
  return (
    <section class="card padded">
      <h2>
        <button type="button" class="opener" aria-expanded={open} onClick={() => setOpen(!open)}>
          Set up the sender
        </button>
      </h2>
      {open && <SetupSteps webhook={webhook} />}
    </section>
  );
}

function describeMissingSecret({ secretName }: ShownWebhook, managedHere: boolean): string {
  return managedHere
    ? 'The webhook has no secret yet and answers 401 to every delivery. Set up the sender, then enter the secret that it shows.'
    : `The team secret ${secretName} has no value yet, so the webhook answers 401 to every delivery. Set the secret, then apply the definition again.`;
}
