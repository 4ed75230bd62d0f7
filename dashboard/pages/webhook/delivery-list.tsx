import { useEffect, useState } from 'preact/hooks';
import { outcomes } from '../../../schema/delivery.ts';
import type { Delivery } from '../../api-types.ts';
import { DeliveryView } from '../../parts/delivery/delivery-panel.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { OutcomePill } from '../../parts/outcome-pill.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Empty, ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { Size } from '../../parts/size.tsx';
import { Text } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useDeliveries } from '../../state/use-deliveries.ts';

/** Recent deliveries of a webhook, newest first, live. */
export function DeliveryList({ webhook }: { readonly webhook: string }) {
  const [outcome, setOutcome] = useState<Delivery['outcome']>();
  const [live, setLive] = useState(false);
  return (
    <section aria-labelledby="deliveries">
      <div class="section-heading">
        <h2 id="deliveries">Recent deliveries</h2>
        <Pill tone={live ? 'busy' : 'quiet'}>{live ? 'live' : 'not live'}</Pill>
        <label class="push">
          <span class="unseen">Outcome</span>
          <select
            value={outcome ?? ''}
            onChange={event => setOutcome(outcomes.find(label => label === event.currentTarget.value))}
          >
            <option value="">All outcomes</option>
            {outcomes.map(label => (
              <option key={label} value={label}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Rows key={outcome ?? ''} webhook={webhook} outcome={outcome} onLive={setLive} />
    </section>
  );
}

interface RowsProperties {
  readonly webhook: string;
  readonly outcome: Delivery['outcome'] | undefined;
  readonly onLive: (live: boolean) => void;
}

function Rows({ webhook, outcome, onLive }: RowsProperties) {
  const { factory } = useFactory();
  const deliveries = useDeliveries({ factory, webhook, outcome });
  useEffect(() => onLive(deliveries.live), [onLive, deliveries.live]);
  const { rows, arrived } = deliveries;
  if (!rows) return <Waiting error={deliveries.error} reload={deliveries.reload} what="deliveries" />;
  return (
    <>
      <p class="unseen" role="status">
        {arrived > 0 && `${arrived} new since the page was opened`}
      </p>
      {rows.length === 0 ? (
        <Empty title={outcome ? `No delivery is labelled ${outcome}` : 'No deliveries yet'}>
          {!outcome && <p>They appear here the moment they arrive, accepted or not.</p>}
        </Empty>
      ) : (
        <ul class="card rows deliveries">
          {rows.map((delivery, index) => (
            <Disclosure
              key={delivery.id}
              class={index < arrived ? 'arrived' : ''}
              summary={<DeliverySummary delivery={delivery} />}
            >
              {() => <DeliveryView id={delivery.id} />}
            </Disclosure>
          ))}
        </ul>
      )}
      <ProblemNotice error={deliveries.error} />
      {deliveries.more && (
        <button type="button" class="more" disabled={deliveries.busy} onClick={deliveries.more}>
          Show older deliveries
        </button>
      )}
    </>
  );
}

function DeliverySummary({ delivery }: { readonly delivery: Delivery }) {
  return (
    <>
      <OutcomePill outcome={delivery.outcome} />
      <code class="id">{delivery.id}</code>
      {delivery.reason !== undefined && (
        <span class="reason">
          <Text text={delivery.reason} />
        </span>
      )}
      <span class="muted size">
        <Size bytes={delivery.size} />
      </span>
      <span class="muted time">
        <Time at={delivery.at} />
      </span>
    </>
  );
}
