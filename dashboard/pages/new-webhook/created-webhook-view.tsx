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
  return (
    <>
      <PageHeading title={`Created ${webhook.name}`} />
      <section class="card padded stack">
        {revealed ? (
          <RevealedOnce {...revealed} />
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
            class="primary"
            onClick={() => goTo({ page: 'webhook', factory, id: webhook.uid })}
          >
            {revealed ? 'I have saved it: open the webhook' : 'Open the webhook'}
          </button>
        </div>
      </section>
    </>
  );
}
