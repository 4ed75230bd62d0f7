import type { ShownWebhook } from '../../api-types.ts';
import { CopyableLine } from '../../parts/copyable.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Code } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { useListeners } from '../../state/use-listeners.ts';
import { useSchemes } from '../../state/use-schemes.ts';
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
  const scheme = getSchemeLabel(webhook.signatureScheme, useSchemes().value);
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
      <Fact term="Event headers">
        <Code text={webhook.eventHeaders.join(', ')} />
      </Fact>
      <Fact term="UID">
        <Code text={webhook.uid} />
      </Fact>
    </Facts>
  );
}

function Listeners({ uid }: { readonly uid: string }) {
  const { factory, mayManage, managedHere } = useFactory();
  const listening = useListeners(uid);
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
