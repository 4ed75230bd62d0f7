import { useState } from 'preact/hooks';
import { identitySourceTexts } from '../../../schema/clients/describe.ts';
import { buildApiUrl, callApi, requestApi } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/loaded-objects.ts';
import { useRunRefresh } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { formatCount } from '../../text/format-values.ts';
import { AutomationChoice } from '../automation-choice.tsx';
import { CopyButton } from '../copyable.tsx';
import { FormDialog } from '../dialog-form.tsx';
import { Waiting } from '../lists.tsx';
import { Code, ExactTime, Fact, Facts, Size, Text } from '../text.tsx';
import { Comparison } from './comparison.tsx';
import { PayloadView } from './payload-view.tsx';
import { StartedRuns } from './started-runs.tsx';

interface ReplayDialogProperties {
  readonly delivery: ShownDelivery;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

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
          {delivery.remedy !== undefined && <Text text={`. ${delivery.remedy}.`} />}
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
          downloadUrl={buildBodyUrl(factory, delivery)}
          fileName={`${delivery.id}.${delivery.form ? 'txt' : 'json'}`}
        >
          {isSent && <CopyButton text={() => renderAsCurl(factory, delivery)} what="as curl" named />}
        </PayloadView>
      )}
      {delivery.payload !== null && isSent && <Comparison delivery={delivery} />}
      {delivery.payload === null && delivery.outcome !== 'Accepted' && (
        <p class="t3">Payloads are stored for accepted deliveries only.</p>
      )}
      {replaying && (
        <ReplayDialog delivery={delivery} onReplayed={reload} onClose={() => setReplaying(false)} />
      )}
    </div>
  );
}

/** Renders the command that sends a delivery again. Fails with `webhook-unknown` if its webhook is deleted. */
async function renderAsCurl(factory: string, delivery: ShownDelivery): Promise<string> {
  const { uid } = delivery;
  const webhook = await callApi('get', '/factories/{factory}/webhooks/{uid}', { factory, uid });
  const body = await requestApi(buildBodyUrl(factory, delivery));
  const { renderCurl } = await import('../../../schema/clients/render-curl.ts');
  return renderCurl(delivery, new Uint8Array(await body.arrayBuffer()), webhook);
}

function buildBodyUrl(factory: string, { id: delivery }: ShownDelivery): string {
  return buildApiUrl('/factories/{factory}/deliveries/{delivery}/payload', { factory, delivery });
}

function ReplayDialog({ delivery, onReplayed, onClose }: ReplayDialogProperties) {
  const { factory } = useFactory();
  const [automation, setAutomation] = useState('');
  const replay = async () => {
    const { runs } = await callApi('post', '/factories/{factory}/deliveries/{delivery}/replay', {
      factory,
      delivery: delivery.id,
      body: automation === '' ? {} : { automation },
    });
    announce(`Started ${formatCount(runs.length, 'run')}`);
    onReplayed();
    onClose();
  };
  return (
    <FormDialog title="Replay the delivery?" action="Start runs" onSubmit={replay} onClose={onClose}>
      <p>Starts new runs from the stored payload, with the automations as they are now.</p>
      <AutomationChoice webhook={delivery.uid} value={automation} onChange={setAutomation} />
    </FormDialog>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: ShownDelivery }) {
  const { factory } = useFactory();
  const { id, identity, identitySource, authenticatedBy, verifiedWith, duplicateOf, headers = {} } = delivery;
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
          {identitySource && <span class="t3"> from {identitySourceTexts[identitySource]}</span>}
        </Fact>
      )}
      {delivery.form && (
        <Fact term="Body">
          a form
          {delivery.form.payloadField !== undefined && (
            <>
              , with its payload in the field <Code text={delivery.form.payloadField} />
            </>
          )}
        </Fact>
      )}
      {authenticatedBy && (
        <Fact term="Authenticated by">
          <Text text={authenticatedBy} />
          {verifiedWith && <span class="t3"> with the previous secret</span>}
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
