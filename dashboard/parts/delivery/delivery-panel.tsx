import { useState } from 'preact/hooks';
import { buildApiUrl, callApi } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/use-delivery.ts';
import { useRunRefresh } from '../../state/use-run-refresh.ts';
import { CopyButton } from '../copy-button.tsx';
import { Text } from '../text.tsx';
import { Waiting } from '../waiting.tsx';
import { Comparison } from './comparison.tsx';
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
  const isSent = delivery.outcome !== 'Manual';
  useRunRefresh(reload, delivery.runs);
  return (
    <div class="delivery">
      {delivery.reason !== undefined && (
        <p class="notice bad">
          <strong>Why it was rejected:</strong> <Text text={delivery.reason} />
        </p>
      )}
      {delivery.reason === undefined && delivery.outcome === 'Rejected (auth)' && !mayManage && (
        <p class="hint">You need the manage permission to see what was wrong with the credential.</p>
      )}
      <DeliveryFacts delivery={delivery} />
      <StartedRuns
        delivery={delivery}
        onReplay={mayManage && isSent ? () => setReplaying(true) : undefined}
      />
      {delivery.payload !== null && (
        <PayloadView
          payload={delivery.payload}
          downloadUrl={buildApiUrl('/factories/{factory}/deliveries/{delivery}/payload', {
            factory,
            delivery: delivery.id,
          })}
          fileName={`${delivery.id}.json`}
        >
          {isSent && <CopyButton text={() => renderAsCurl(factory, delivery)} what="as curl" named />}
        </PayloadView>
      )}
      {delivery.payload !== null && isSent && <Comparison delivery={delivery} />}
      {delivery.payload === null && delivery.outcome !== 'Accepted' && (
        <p class="muted">Payloads are stored for accepted deliveries only.</p>
      )}
      {replaying && (
        <ReplayDialog delivery={delivery} onReplayed={reload} onClose={() => setReplaying(false)} />
      )}
    </div>
  );
}

/** Renders the command that sends a delivery again. Fails with `webhook-unknown` if its webhook is deleted. */
async function renderAsCurl(factory: string, { uid, payload, ...delivery }: ShownDelivery): Promise<string> {
  const webhook = await callApi('get', '/factories/{factory}/webhooks/{uid}', { factory, uid });
  const { renderCurl } = await import('../../../schema/render-curl.ts');
  return renderCurl(delivery, new TextEncoder().encode(payload ?? ''), webhook);
}
