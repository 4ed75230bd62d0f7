import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { WebhookDetail } from '../../api-types.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { CopyableBlock, CopyableLine } from '../../parts/copyable.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { SetupSteps } from '../../parts/setup-steps.tsx';
import { Switch } from '../../parts/switch.tsx';
import { Code } from '../../parts/text.tsx';
import { WebhookState } from '../../parts/webhook-state-pill.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { hrefOf } from '../../state/page-location.ts';
import { useAction } from '../../state/use-action.ts';
import { useInterval } from '../../state/use-interval.ts';
import { useLoad } from '../../state/use-load.ts';
import { modeWords, schemeWords } from '../../text/sender-labels.ts';
import { DeliveryList } from './delivery-list.tsx';
import { WebhookActions } from './webhook-actions.tsx';

const path = '/factories/{factory}/webhooks/{uid}';
const webhookEveryMs = 30_000;

export function WebhookPage({ uid }: { readonly uid: string }) {
  const { factory } = useFactory();
  const webhook = useLoad(signal => callApi('get', path, { factory, uid, signal }), [factory, uid]);
  useInterval(webhook.reload, webhookEveryMs);
  if (!webhook.value) return <Waiting error={webhook.error} reload={webhook.reload} what="the webhook" />;
  return <WebhookView webhook={webhook.value} onChanged={webhook.put} />;
}

interface Properties {
  readonly webhook: WebhookDetail;
  readonly onChanged: (webhook: WebhookDetail) => void;
}

function WebhookView({ webhook, onChanged }: Properties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [settingUp, setSettingUp] = useState(webhook.credential === 'not set');
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading title={webhook.name}>
        {(!mayManage || webhook.credential === 'not set') && <WebhookState webhook={webhook} />}
        {mayManage && (
          <div class="actions push">
            <EnabledSwitch webhook={webhook} onChanged={onChanged} />
            {managedHere && <WebhookActions webhook={webhook} onChanged={onChanged} />}
          </div>
        )}
      </PageHeading>
      <section class="card padded" aria-labelledby="about">
        <h2 id="about" class="unseen">
          About the webhook
        </h2>
        <CopyableLine text={webhook.url} what="ingress URL" />
        {webhook.authMode === 'url_token' && (
          <p class="hint">
            <code>{'{token}'}</code> stands for the secret, which was shown once. The whole URL is the
            credential: if it leaks, rotate.
          </p>
        )}
        <Facts webhook={webhook} />
        <Listeners uid={webhook.uid} />
      </section>
      {webhook.credential === 'not set' && <p class="notice warn">{notSet(webhook, managedHere)}</p>}
      <section class="card padded">
        <h2>
          <button
            type="button"
            class="opener"
            aria-expanded={settingUp}
            onClick={() => setSettingUp(!settingUp)}
          >
            Set up the sender
          </button>
        </h2>
        {settingUp && <SetupSteps webhook={webhook} />}
      </section>
      {!managedHere && <DefinitionFile webhook={webhook} />}
      <DeliveryList webhook={webhook.uid} />
    </>
  );
}

function EnabledSwitch({ webhook, onChanged }: Properties) {
  const { factory } = useFactory();
  const { busy, error, run } = useAction(async (enabled: boolean) => {
    onChanged(await callApi('patch', path, { factory, uid: webhook.uid, body: { enabled } }));
    announce(enabled ? `${webhook.name} takes deliveries` : `${webhook.name} answers 404 now`);
  });
  return (
    <>
      <Switch label="Enabled" on={webhook.enabled} disabled={busy} onToggle={run} />
      <ProblemNotice error={error} />
    </>
  );
}

function Facts({ webhook }: { readonly webhook: WebhookDetail }) {
  const schemes = useLoad(signal => callApi('get', '/schemes', { signal }), []).value?.schemes;
  const scheme = schemeWords(webhook.signatureScheme, schemes);
  return (
    <dl class="facts">
      <div>
        <dt>Authentication</dt>
        <dd>
          {modeWords[webhook.authMode]}
          {scheme && ` · ${scheme}`}
        </dd>
      </div>
      <div>
        <dt>Team secret</dt>
        <dd>
          <Code text={webhook.secretName} />
        </dd>
      </div>
      <div>
        <dt>Delivery ID header</dt>
        <dd>{webhook.deliveryIdHeader === null ? 'not set' : <Code text={webhook.deliveryIdHeader} />}</dd>
      </div>
      <div>
        <dt>UID</dt>
        <dd>
          <Code text={webhook.uid} />
        </dd>
      </div>
    </dl>
  );
}

function Listeners({ uid }: { readonly uid: string }) {
  const { factory, mayManage, managedHere } = useFactory();
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  const listening = value?.automations.filter(({ triggers }) =>
    triggers.some(trigger => trigger.uid === uid),
  );
  return (
    <p class="listeners">
      <span class="label">Automations</span>{' '}
      {listening?.length === 0 && (
        <span class="muted">none listens to it: deliveries are logged and start nothing</span>
      )}
      {listening?.map(({ name, enabled }) => (
        <a key={name} href={hrefOf({ page: 'automation', factory, id: name })}>
          {name}
          {!enabled && ' (disabled)'}
        </a>
      ))}
      {mayManage && managedHere && listening?.length === 0 && (
        <a href={hrefOf({ page: 'new-automation', factory })}>Create one</a>
      )}
    </p>
  );
}

/** Where the webhook is defined, and what its file says. */
function DefinitionFile({ webhook }: { readonly webhook: WebhookDetail }) {
  const { status } = useFactory();
  const repository = status.managedBy === 'repository';
  return (
    <section class="card padded">
      <h2>Definition file</h2>
      <p>
        {webhook.file !== null && <Code text={webhook.file} />}
        {status.revision !== null && (
          <>
            {' '}
            at revision <Code text={status.revision.slice(0, 12)} />
          </>
        )}
        . To change the webhook, change the file {repository ? 'on the production branch' : 'and apply'}; a
        renamed file is another webhook with another URL. Enabled may be toggled here until{' '}
        {repository ? 'the next change of the branch applies' : 'the next apply says otherwise'}.
      </p>
      <p>
        To rotate its secret, give the team secret a new value:{' '}
        <code>hookmill secrets set {webhook.secretName}</code>.{' '}
        {repository
          ? 'It takes effect when the next change of the branch applies.'
          : 'It takes effect when the definition next applies: toggle Enabled off and on, or apply.'}
      </p>
      <CopyableBlock text={webhook.yaml} what={webhook.file ?? `webhooks/${webhook.name}.yaml`} />
    </section>
  );
}

function notSet({ secretName }: WebhookDetail, managedHere: boolean): string {
  return managedHere
    ? 'Its secret is not supplied yet, so every delivery is answered 401. Set up the sender, then supply the secret that it shows.'
    : `The team secret ${secretName} has no value yet, so every delivery is answered 401 until it is set and the definition applies again.`;
}
