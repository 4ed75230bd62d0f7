import { useState } from 'preact/hooks';
import { buildApiUrl } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/use-delivery.ts';
import { useRunRefresh } from '../../state/use-run-refresh.ts';
import { Text } from '../text.tsx';
import { Waiting } from '../waiting.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { PayloadView } from './payload-view.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { StartedRuns } from './started-runs.tsx';

/** One delivery, read when the panel appears. */
export function DeliveryPanel({ id }: { readonly id: string }) {
  const { value, error, reload } = useDelivery(id);
  if (!value) return <Waiting error={error} reload={reload} what="the delivery" />;
  return <DeliveryDetails delivery={value} reload={reload} />;
}

interface Properties {
  readonly delivery: ShownDelivery;
  /** Reads the delivery again. */
  readonly reload: () => void;
}

/** Why a delivery was accepted or rejected, the runs that it started, and its payload. */
export function DeliveryDetails({ delivery, reload }: Properties) {
  const { factory, mayManage } = useFactory();
  const [replaying, setReplaying] = useState(false);
  useRunRefresh(reload, delivery.runs);
  return (
    <div class="delivery">
      {delivery.reason !== undefined && (
        <p class="notice bad">
          <strong>Why it was rejected:</strong> <Text text={delivery.reason} />
        </p>
      )}
      {delivery.reason === undefined && delivery.outcome.startsWith('Rejected') && !mayManage && (
        <p class="hint">You need the manage permission to see the reason.</p>
      )}
      <DeliveryFacts delivery={delivery} />
      <StartedRuns delivery={delivery} onReplay={mayManage ? () => setReplaying(true) : undefined} />
      {delivery.payload !== null && (
        <PayloadView
          payload={delivery.payload}
          downloadUrl={buildApiUrl('/factories/{factory}/deliveries/{delivery}/payload', {
            factory,
            delivery: delivery.id,
          })}
          fileName={`${delivery.id}.json`}
        />
      )}
      {delivery.payload === null && delivery.outcome !== 'Accepted' && (
        <p class="muted">Payloads are stored for accepted deliveries only.</p>
      )}
      {replaying && (
        <ReplayDialog delivery={delivery} onReplayed={reload} onClose={() => setReplaying(false)} />
      )}
    </div>
  );
}
