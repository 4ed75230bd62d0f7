import { useState } from 'preact/hooks';
import { buildApiUrl, callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';
import { useRunRefresh } from '../../state/use-run-refresh.ts';
import { Text } from '../text.tsx';
import { Waiting } from '../waiting.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { PayloadView } from './payload-view.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { StartedRuns } from './started-runs.tsx';

/** One delivery: why it was accepted or rejected, the runs that it started, and its payload. */
export function DeliveryPanel({ id }: { readonly id: string }) {
  const { factory, mayManage } = useFactory();
  const [replaying, setReplaying] = useState(false);
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
  useRunRefresh(reload, value?.runs);
  if (!value) return <Waiting error={error} reload={reload} what="the delivery" />;
  return (
    <div class="delivery">
      {value.reason !== undefined && (
        <p class="notice bad">
          <strong>Why it was rejected:</strong> <Text text={value.reason} />
        </p>
      )}
      {value.reason === undefined && value.outcome.startsWith('Rejected') && !mayManage && (
        <p class="hint">You need the manage permission to see the reason.</p>
      )}
      <DeliveryFacts delivery={value} />
      <StartedRuns delivery={value} onReplay={mayManage ? () => setReplaying(true) : undefined} />
      {value.payload !== null && (
        <PayloadView
          payload={value.payload}
          downloadUrl={buildApiUrl('/factories/{factory}/deliveries/{delivery}/payload', {
            factory,
            delivery: id,
          })}
        />
      )}
      {value.payload === null && value.outcome !== 'Accepted' && (
        <p class="muted">Payloads are stored for accepted deliveries only.</p>
      )}
      {replaying && <ReplayDialog delivery={value} onReplayed={reload} onClose={() => setReplaying(false)} />}
    </div>
  );
}
