import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Outcome, outcomes } from '../../../schema/delivery.ts';
import type { ListedDelivery } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Empty } from '../../parts/empty.tsx';
import { OutcomePill } from '../../parts/outcome-pill.tsx';
import { PagedRows } from '../../parts/paged-rows.tsx';
import { Pill } from '../../parts/pill.tsx';
import { RowSummary } from '../../parts/row-summary.tsx';
import { Size } from '../../parts/size.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useDeliveries } from '../../state/use-deliveries.ts';

interface Properties {
  /** UID of the webhook. */
  readonly webhook: string;
  /** Renders the detail of a delivery that the user opens. */
  readonly renderDelivery: (id: string) => ComponentChildren;
}

/** The deliveries of a webhook, newest first. New ones appear as they arrive. */
export function DeliveryList({ webhook, renderDelivery }: Properties) {
  const [outcome, setOutcome] = useState<Outcome>();
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
      <Rows
        key={outcome ?? ''}
        webhook={webhook}
        renderDelivery={renderDelivery}
        outcome={outcome}
        onLive={setLive}
      />
    </section>
  );
}

interface RowsProperties extends Properties {
  readonly outcome: Outcome | undefined;
  readonly onLive: (live: boolean) => void;
}

function Rows({ webhook, renderDelivery, outcome, onLive }: RowsProperties) {
  const { factory } = useFactory();
  const deliveries = useDeliveries({ factory, webhook, outcome });
  useEffect(() => onLive(deliveries.live), [onLive, deliveries.live]);
  const { arrived } = deliveries;
  return (
    <>
      <p class="unseen" role="status">
        {arrived > 0 && `${arrived} new since you opened the page`}
      </p>
      <PagedRows
        pages={deliveries}
        what="deliveries"
        empty={
          <Empty title={outcome ? `No deliveries with the outcome ${outcome}` : 'No deliveries yet'}>
            {!outcome && <p>Deliveries appear here as they arrive, whether accepted or rejected.</p>}
          </Empty>
        }
        renderRow={(delivery, index) => (
          <Disclosure
            key={delivery.id}
            class={index < arrived ? 'arrived' : ''}
            summary={<DeliverySummary delivery={delivery} />}
          >
            {() => renderDelivery(delivery.id)}
          </Disclosure>
        )}
      />
    </>
  );
}

function DeliverySummary({ delivery }: { readonly delivery: ListedDelivery }) {
  return (
    <RowSummary
      pill={<OutcomePill outcome={delivery.outcome} />}
      id={delivery.id}
      note={delivery.reason ?? delivery.eventType}
      size={<Size bytes={delivery.size} />}
      at={delivery.at}
    />
  );
}
