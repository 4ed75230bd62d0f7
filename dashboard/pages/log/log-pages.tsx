import { DeliveryDetails, DeliveryPanel } from '../../parts/delivery/delivery-panel.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { DeliveryList } from '../../parts/log/delivery-list.tsx';
import { RunList } from '../../parts/log/run-list.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { OutcomePill } from '../../parts/pills.tsx';
import { RunPanel } from '../../parts/run-panel.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/loaded-objects.ts';

/** The deliveries to all webhooks of the factory. */
export function DeliveriesPage() {
  return (
    <>
      <PageHeading title="Deliveries" />
      <DeliveryList title="All webhooks" renderDelivery={id => <DeliveryPanel id={id} />} />
    </>
  );
}

/** The runs of all automations of the factory. */
export function RunsPage() {
  return (
    <>
      <PageHeading title="Runs" />
      <RunList title="All automations" />
    </>
  );
}

/** A delivery at its own address, to share with colleagues. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useDelivery(id);
  return (
    <>
      {value && value.outcome !== 'Manual' ? (
        <Breadcrumb to={{ page: 'webhook', factory, id: value.uid }} label={value.webhook} />
      ) : (
        <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      )}
      <PageHeading title={id} aside={value && <OutcomePill outcome={value.outcome} />} />
      <div class="card padded">
        <h2 class="unseen">Details</h2>
        {value ? (
          <DeliveryDetails delivery={value} reload={reload} />
        ) : (
          <Waiting error={error} reload={reload} what="the delivery" />
        )}
      </div>
    </>
  );
}

/** A run at its own address. */
export function RunPage({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  return (
    <>
      <Breadcrumb to={{ page: 'runs', factory }} label="Runs" />
      <PageHeading title={id} />
      <div class="card padded">
        <RunPanel id={id} />
      </div>
    </>
  );
}
