import { useState } from 'preact/hooks';
import type { CreatedWebhook } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { RevealedOnce } from '../../parts/revealed-once.tsx';
import { SetupSteps } from '../../parts/setup-steps.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { goTo } from '../../state/current-location.ts';

/** The new webhook with its generated secret, if there is one, and how to set up the sender. */
export function CreatedWebhookView({ created }: { readonly created: CreatedWebhook }) {
  const { factory } = useFactory();
  const { webhook, revealed } = created;
  const [isStored, setIsStored] = useState(revealed === null);
  return (
    <>
      {/* The key lets the heading take the focus again when the dialog has closed. */}
      <PageHeading key={String(isStored)} title={`Created ${webhook.name}`} />
      <section class="card padded stack">
        {revealed ? (
          <p>Its secret was generated. If you lose it, rotate the secret.</p>
        ) : (
          <p>
            {webhook.credential === 'set'
              ? `It uses the team secret ${webhook.secretName}, whose value is not shown.`
              : 'It has no secret yet. It answers 401 to deliveries until you enter one on its page.'}
          </p>
        )}
        <h2>Next steps</h2>
        <p>
          The ingress URL is <code>{webhook.url}</code>
        </p>
        <SetupSteps webhook={webhook} />
        <div class="actions">
          <button
            type="button"
            class="btn primary"
            onClick={() => goTo({ page: 'webhook', factory, id: webhook.uid })}
          >
            Open the webhook
          </button>
        </div>
      </section>
      {revealed && !isStored && (
        <RevealedOnce
          title={`Secret of ${webhook.name}`}
          generated={revealed}
          onStored={() => setIsStored(true)}
        />
      )}
    </>
  );
}
