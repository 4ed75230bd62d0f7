import { callApi } from '../../api-client.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { DeliveryPanel } from '../../parts/delivery/delivery-panel.tsx';
import { OutcomePill } from '../../parts/outcome-pill.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';

/** A delivery at its own address, to share with colleagues. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
  return (
    <>
      {value ? (
        <Breadcrumb to={{ page: 'webhook', factory, id: value.uid }} label={value.webhook} />
      ) : (
        <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      )}
      <PageHeading title={id}>{value && <OutcomePill outcome={value.outcome} />}</PageHeading>
      <div class="card padded">
        <h2 class="unseen">Details</h2>
        <DeliveryPanel id={id} />
      </div>
    </>
  );
}
