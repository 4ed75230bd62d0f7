import { useState } from 'preact/hooks';
import { apiUrl, callApi } from '../../api-client.ts';
import type { DeliveryDetail } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { hrefOf } from '../../state/page-location.ts';
import { useInterval } from '../../state/use-interval.ts';
import { useLoad } from '../../state/use-load.ts';
import { counted } from '../../text/format-count.ts';
import { Pill } from '../pill.tsx';
import { Waiting } from '../problem-notice.tsx';
import { RunState } from '../run-state-pill.tsx';
import { Size } from '../size.tsx';
import { Code, Text } from '../text.tsx';
import { ExactTime } from '../time.tsx';
import { TriggerVerdictView } from '../trigger-verdict.tsx';
import { PayloadView } from './payload-view.tsx';
import { ReplayDialog } from './replay-dialog.tsx';

const runsEveryMs = 2_000;

/** One delivery: how it was judged, what it started, and its payload. */
export function DeliveryView({ id }: { readonly id: string }) {
  const { factory, mayManage } = useFactory();
  const [replaying, setReplaying] = useState(false);
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
  const going = value?.runs.some(({ state }) => state === 'queued' || state === 'running');
  useInterval(reload, going ? runsEveryMs : undefined);
  if (!value) return <Waiting error={error} reload={reload} what="the delivery" />;
  return (
    <div class="delivery">
      {value.reason !== undefined && (
        <p class="notice bad">
          <strong>Why it was rejected:</strong> <Text text={value.reason} />
        </p>
      )}
      {value.reason === undefined && value.outcome.startsWith('Rejected') && !mayManage && (
        <p class="hint">Why it was rejected is told to those who may manage the factory.</p>
      )}
      <Facts delivery={value} />
      <Started delivery={value} onReplay={mayManage ? () => setReplaying(true) : undefined} />
      {value.payload !== null && (
        <PayloadView
          payload={value.payload}
          downloadUrl={apiUrl('/factories/{factory}/deliveries/{delivery}/payload', {
            factory,
            delivery: id,
          })}
        />
      )}
      {value.payload === null && value.outcome !== 'Accepted' && (
        <p class="muted">Only its metadata is kept: payloads are stored of accepted deliveries alone.</p>
      )}
      {replaying && <ReplayDialog delivery={value} onReplayed={reload} onClose={() => setReplaying(false)} />}
    </div>
  );
}

function Facts({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { factory } = useFactory();
  return (
    <dl class="facts">
      <div>
        <dt>Arrived</dt>
        <dd>
          <ExactTime at={delivery.at} />
        </dd>
      </div>
      <div>
        <dt>Size</dt>
        <dd>
          <Size bytes={delivery.size} />
        </dd>
      </div>
      {delivery.identity !== null && (
        <div>
          <dt>Identity</dt>
          <dd>
            <Code text={delivery.identity} />
            {delivery.identitySource && (
              <span class="muted"> from {sourceWords[delivery.identitySource]}</span>
            )}
          </dd>
        </div>
      )}
      {delivery.authenticatedBy && (
        <div>
          <dt>Authenticated by</dt>
          <dd>
            <Text text={delivery.authenticatedBy} />
          </dd>
        </div>
      )}
      {delivery.duplicateOf && (
        <div>
          <dt>Duplicate of</dt>
          <dd>
            <a href={hrefOf({ page: 'delivery', factory, id: delivery.duplicateOf })}>
              <Code text={delivery.duplicateOf} />
            </a>
          </dd>
        </div>
      )}
      <div>
        <dt>Delivery</dt>
        <dd>
          <a href={hrefOf({ page: 'delivery', factory, id: delivery.id })}>
            <Code text={delivery.id} />
          </a>
        </dd>
      </div>
    </dl>
  );
}

const sourceWords: Readonly<Record<NonNullable<DeliveryDetail['identitySource']>, string>> = {
  deliveryIdHeader: "the webhook's delivery ID header",
  scheme: "the provider's header",
  'X-Service-Delivery-Id': 'X-Service-Delivery-Id',
  body: 'a hash of the body',
};

interface StartedProperties {
  readonly delivery: DeliveryDetail;
  readonly onReplay: (() => void) | undefined;
}

/** What the delivery started, and why the other automations did not. */
function Started({ delivery: { runs, evaluation, outcome }, onReplay }: StartedProperties) {
  const { factory } = useFactory();
  if (outcome !== 'Accepted') return null;
  return (
    <section aria-label="Runs" class="started">
      <div class="section-heading">
        <h3>{runs.length === 0 ? 'Started nothing' : `Started ${counted(runs.length, 'run')}`}</h3>
        {onReplay && (
          <button type="button" class="push" onClick={onReplay}>
            Replay…
          </button>
        )}
      </div>
      {runs.length > 0 && (
        <ul class="plain-list">
          {runs.map(run => (
            <li key={run.id} class="pair">
              <RunState state={run.state} />
              <a href={hrefOf({ page: 'run', factory, id: run.id })}>
                <code>{run.id}</code>
              </a>
              <span class="muted">
                of {run.automation}
                {run.replay && ', a replay'}
              </span>
            </li>
          ))}
        </ul>
      )}
      {evaluation?.automations.map(verdict => (
        <details key={verdict.automation}>
          <summary>
            {verdict.automation}{' '}
            <Pill tone={verdict.wouldTrigger ? 'good' : 'quiet'}>{verdictWords(verdict)}</Pill>
          </summary>
          {verdict.triggers.map((trigger, index) => (
            <TriggerVerdictView key={index} verdict={trigger} />
          ))}
        </details>
      ))}
      {evaluation?.automations.length === 0 && <p class="muted">No automation listened to the webhook.</p>}
    </section>
  );
}

function verdictWords({
  enabled,
  wouldTrigger,
}: NonNullable<DeliveryDetail['evaluation']>['automations'][number]) {
  if (wouldTrigger) return 'triggered';
  return enabled ? 'did not match' : 'disabled';
}
