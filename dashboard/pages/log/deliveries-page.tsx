import { DeliveryPanel } from '../../parts/delivery/delivery-panel.tsx';
import { DeliveryList } from '../../parts/log/delivery-list.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';

/** The deliveries to all webhooks of the factory. */
export function DeliveriesPage() {
  return (
    <>
      <PageHeading title="Deliveries" />
      <DeliveryList title="All webhooks" renderDelivery={id => <DeliveryPanel id={id} />} />
    </>
  );
}
