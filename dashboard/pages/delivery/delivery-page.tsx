import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { DeliveryDetails } from '../../parts/delivery/delivery-panel.tsx';
import { OutcomePill } from '../../parts/outcome-pill.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/use-delivery.ts';

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
      <PageHeading title={id}>{value && <OutcomePill outcome={value.outcome} />}</PageHeading>
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
