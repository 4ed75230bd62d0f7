import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { CopyableLine } from '../../parts/copyable.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Code } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { useLoad } from '../../state/use-load.ts';
import { authModeLabels, getSchemeLabel } from '../../text/sender-labels.ts';

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
  const schemes = useLoad(signal => callApi('get', '/schemes', { signal }), []).value?.schemes;
  const scheme = getSchemeLabel(webhook.signatureScheme, schemes);
  return (
    <Facts>
      <Fact term="Authentication">
        {authModeLabels[webhook.authMode]}
        {scheme && ` · ${scheme}`}
      </Fact>
      <Fact term="Team secret">
        <Code text={webhook.secretName} />
      </Fact>
      <Fact term="Delivery ID header">
        {webhook.deliveryIdHeader === null ? 'not set' : <Code text={webhook.deliveryIdHeader} />}
      </Fact>
      <Fact term="UID">
        <Code text={webhook.uid} />
      </Fact>
    </Facts>
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
      {listening?.length === 0 && <span class="muted">None: deliveries are logged but start no runs.</span>}
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
