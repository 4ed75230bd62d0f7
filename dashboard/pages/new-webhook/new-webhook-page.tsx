import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { CreatedWebhook } from '../../api-types.ts';
import { Waiting } from '../../parts/lists.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSchemes } from '../../state/loaded-objects.ts';
import { useLoad } from '../../state/loading.ts';
import { CreatedWebhookView } from './created-webhook-view.tsx';
import { WebhookForm } from './webhook-form.tsx';

export function NewWebhookPage() {
  const { factory, reload } = useFactory();
  // The generated secret is kept nowhere else, and only until the user leaves the page.
  const [created, setCreated] = useState<CreatedWebhook>();
  const schemes = useSchemes();
  const secrets = useLoad(
    signal => callApi('get', '/factories/{factory}/secrets', { factory, signal }),
    [factory],
  );
  if (created) return <CreatedWebhookView created={created} />;
  const show = (answer: CreatedWebhook) => {
    setCreated(answer);
    reload();
  };
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading title="New webhook" />
      {schemes.value && secrets.value ? (
        <WebhookForm
          schemes={schemes.value}
          secrets={secrets.value.secrets.filter(({ state }) => state !== 'missing')}
          onCreated={show}
        />
      ) : (
        <Waiting
          error={schemes.error ?? secrets.error}
          reload={() => {
            schemes.reload();
            secrets.reload();
          }}
          what="the signature schemes"
        />
      )}
    </>
  );
}
