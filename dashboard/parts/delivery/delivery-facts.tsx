import type { IdentitySource } from '../../../schema/delivery.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { Fact, Facts } from '../facts.tsx';
import { Size } from '../size.tsx';
import { Code, Text } from '../text.tsx';
import { ExactTime } from '../time.tsx';

const identitySourceLabels: Readonly<Record<IdentitySource, string>> = {
  deliveryIdHeader: "the webhook's delivery ID header",
  scheme: "the provider's header",
  'X-Service-Delivery-Id': 'X-Service-Delivery-Id',
  body: 'a hash of the body',
};

export function DeliveryFacts({ delivery }: { readonly delivery: ShownDelivery }) {
  const { factory } = useFactory();
  const { id, identity, identitySource, authenticatedBy, duplicateOf, headers = {} } = delivery;
  return (
    <Facts>
      <Fact term="Arrived">
        <ExactTime at={delivery.at} />
      </Fact>
      <Fact term="Size">
        <Size bytes={delivery.size} />
      </Fact>
      {identity !== null && (
        <Fact term="Identity">
          <Code text={identity} />
          {identitySource && <span class="muted"> from {identitySourceLabels[identitySource]}</span>}
        </Fact>
      )}
      {authenticatedBy && (
        <Fact term="Authenticated by">
          <Text text={authenticatedBy} />
        </Fact>
      )}
      {Object.entries(headers).map(([name, value]) => (
        <Fact key={name} term={name}>
          <Code text={value} />
        </Fact>
      ))}
      {duplicateOf && (
        <Fact term="Duplicate of">
          <a href={toHref({ page: 'delivery', factory, id: duplicateOf })}>
            <Code text={duplicateOf} />
          </a>
        </Fact>
      )}
      <Fact term="Delivery ID">
        <a href={toHref({ page: 'delivery', factory, id })}>
          <Code text={id} />
        </a>
      </Fact>
    </Facts>
  );
}
