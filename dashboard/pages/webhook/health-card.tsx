import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import { DeliveryChart } from '../../parts/chart/delivery-chart.tsx';
import { SpanChoice } from '../../parts/chart/span-choice.tsx';
import { isRowOpen } from '../../parts/disclosure.tsx';
import { HealthPill } from '../../parts/health-pill.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useInterval } from '../../state/use-interval.ts';
import { useLoad } from '../../state/use-load.ts';
import type { Span } from '../../text/delivery-bars.ts';

const healthEveryMs = 30_000;

/** The health of a webhook and a chart of its deliveries, once there are some. */
export function HealthCard({ uid, name }: { readonly uid: string; readonly name: string }) {
  const { factory } = useFactory();
  const [span, setSpan] = useState<Span>('day');
  const { value, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/health', { factory, query: { webhook: uid }, signal }),
    [factory, uid],
  );
  useInterval(() => {
    if (!isRowOpen(document)) reload();
  }, healthEveryMs);
  const webhook = value?.webhooks[0];
  if (!webhook || webhook.tallies.length === 0) return null;
  return (
    <section class="card padded compact">
      <div class="section-heading">
        {webhook.health && <HealthPill health={webhook.health} />}
        <div class="push">
          <SpanChoice span={span} onChange={setSpan} />
        </div>
      </div>
      <DeliveryChart name={name} since={value.since} tallies={webhook.tallies} span={span} />
    </section>
  );
}
