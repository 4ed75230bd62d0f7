import { useState } from 'preact/hooks';
import {
  describeAdvice,
  describeHandshake,
  describeRepeatedId,
  remedyRepeatedId,
} from '../../../schema/clients/describe.ts';
import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { DeliveryChart, SpanChoice } from '../../parts/chart/delivery-chart.tsx';
import { CopyableLine } from '../../parts/copyable.tsx';
import { DefinitionFileSection } from '../../parts/definition-file.tsx';
import { isRowOpen } from '../../parts/disclosure.tsx';
import { HealthPill } from '../../parts/health-pill.tsx';
import { Code, Fact, Facts, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useListeners, useSchemes } from '../../state/loaded-objects.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { useInterval } from '../../state/use-interval.ts';
import type { Span } from '../../text/delivery-bars.ts';
import { authModeLabels, getSchemeLabel } from '../../text/sender-labels.ts';

const healthEveryMs = 30_000;

/** The ingress URL, how senders authenticate, and the automations that listen. */
export function AboutWebhook({ webhook }: { readonly webhook: ShownWebhook }) {
  return (
    <section class="card padded" aria-labelledby="about">
      <h2 id="about" class="unseen">
        About the webhook
      </h2>
      <CopyableLine text={webhook.url} what="ingress URL" />
      {webhook.authMode === 'url_token' && (
        <p class="hint">
          <code>{'{token}'}</code> stands for the secret, which was shown once. Anyone who knows the whole URL
          can deliver: if it leaks, rotate the secret.
        </p>
      )}
      <WebhookFacts webhook={webhook} />
      <Listeners uid={webhook.uid} />
    </section>
  );
}

function WebhookFacts({ webhook }: { readonly webhook: ShownWebhook }) {
  const scheme = getSchemeLabel(webhook.signatureScheme, useSchemes().value);
  const deliveryId = webhook.deliveryIdHeader ?? webhook.deliveryIdField;
  return (
    <Facts>
      <Fact term="Authentication">
        {authModeLabels[webhook.authMode]}
        {scheme && ` · ${scheme}`}
      </Fact>
      {webhook.secretName === null ? (
        <TokenFacts webhook={webhook} />
      ) : (
        <Fact term="Team secret">
          <Code text={webhook.secretName} />
        </Fact>
      )}
      <Fact term="Delivery ID">
        {deliveryId === null ? 'not set' : <Code text={[deliveryId].flat().join(', ')} />}
      </Fact>
      {webhook.handshake !== null && (
        <Fact term="Handshake">
          <Code text={describeHandshake(webhook.handshake)} />
        </Fact>
      )}
      <Fact term="Event headers">
        <Code text={webhook.eventHeaders.join(', ')} />
      </Fact>
      <Fact term="UID">
        <Code text={webhook.uid} />
      </Fact>
    </Facts>
  );
}

/** The issuer, the audience and the claims that a sender's token must have. */
function TokenFacts({ webhook: { issuer, audience, claims } }: { readonly webhook: ShownWebhook }) {
  return (
    <>
      <Fact term="Issuer">
        <Code text={issuer ?? ''} />
      </Fact>
      <Fact term="Audience">
        <Code text={audience ?? ''} />
      </Fact>
      {Object.entries(claims ?? {}).map(([claim, condition]) => (
        <Fact key={claim} term={`Claim ${claim}`}>
          <Code text={Array.isArray(condition) ? condition.join(', ') : JSON.stringify(condition)} />
        </Fact>
      ))}
    </>
  );
}

function Listeners({ uid }: { readonly uid: string }) {
  const { factory, mayManage, managedHere } = useFactory();
  const listening = useListeners(uid);
  return (
    <p class="listeners">
      <span class="label">Automations</span>{' '}
      {listening?.length === 0 && <span class="t3">None: deliveries are logged but start no runs.</span>}
      {listening?.map(({ name, enabled }) => (
        <a key={name} href={toHref({ page: 'automation', factory, id: name })}>
          {name}
          {!enabled && ' (disabled)'}
        </a>
      ))}
      {mayManage && managedHere && listening?.length === 0 && (
        <a href={toHref({ page: 'new-automation', factory })}>Create one</a>
      )}
    </p>
  );
}

/** The definition file of a webhook, and what to do to change the webhook. */
export function WebhookFile({ webhook }: { readonly webhook: ShownWebhook }) {
  const { followsBranch } = useFactory();
  return (
    <DefinitionFileSection definition={webhook} name={`webhooks/${webhook.name}.yaml`}>
      <p>
        To change the webhook, edit its file {followsBranch ? 'on the production branch' : 'and apply'}.
        {followsBranch
          ? 'Keep the name of the file: a commit that renames it is not applied, because the URL would change. A change of the Enabled switch lasts until the next change on the branch is applied.'
          : 'Renaming the file replaces the webhook with a new one at a new URL. A change of the Enabled switch lasts until the next apply.'}
      </p>
      {webhook.secretName !== null && (
        <p>
          To rotate the secret, run{' '}
          <code>
            hookmill secrets set {webhook.secretName}
            {webhook.authMode === 'url_token' ? '' : ' --overlap 2h'}
          </code>
          .{' '}
          {followsBranch
            ? 'The new value takes effect when the next change on the branch is applied.'
            : 'The new value takes effect when you apply, or switch Enabled off and on.'}
        </p>
      )}
    </DefinitionFileSection>
  );
}

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
      {webhook.overlap && (
        <p class="notice">
          <Text text={describeAdvice(webhook.overlap)} />
        </p>
      )}
      {webhook.repeatedId && (
        <p class="notice">
          <Text
            text={`${describeRepeatedId(webhook.repeatedId)}. ${remedyRepeatedId(webhook.repeatedId)}.`}
          />
        </p>
      )}
      <DeliveryChart name={name} since={value.since} tallies={webhook.tallies} span={span} />
    </section>
  );
}
