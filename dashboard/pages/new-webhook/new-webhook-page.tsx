import { useEffect, useRef, useState } from 'preact/hooks';
import type { CreatedWebhook } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Waiting } from '../../parts/lists.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { handOver } from '../../state/created-webhook.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo } from '../../state/current-location.ts';
import { useSchemes } from '../../state/loaded-objects.ts';
import { useLoad } from '../../state/loading.ts';
import type { ChosenSender } from '../../state/webhook-draft.ts';
import { ProviderChoice } from './provider-choice.tsx';
import { FileView, StepsNav } from './second-step.tsx';
import type { KnownObjects } from './secret-fields.tsx';
import { type DraftedFile, WebhookForm } from './webhook-form.tsx';

/** Makes a webhook in two steps: who delivers and with which secret; then its own page says what to do at the sender. */
export function NewWebhookPage() {
  const { factory, reload, mayManage } = useFactory();
  const [drafted, setDrafted] = useState<DraftedFile>();
  const schemes = useSchemes();
  const others = useLoad(
    async signal => {
      const [{ secrets }, { webhooks }] = await Promise.all([
        callApi('get', '/factories/{factory}/secrets', { factory, signal }),
        callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
      ]);
      return { secrets: secrets.filter(({ state }) => state !== 'missing'), webhooks };
    },
    [factory],
  );
  const known = schemes.value && others.value && { schemes: schemes.value, ...others.value };
  if (drafted && known) return <FileView file={drafted} schemes={known.schemes} />;
  const show = (answer: CreatedWebhook) => {
    handOver(answer);
    reload();
    goTo({ page: 'webhook', factory, id: answer.webhook.uid });
    // The form may have been scrolled.
    scrollTo(0, 0);
  };
  return (
    <div class="page reading">
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading title="New webhook" />
      <StepsNav current={1} second="Register at the provider" />
      {!mayManage ? (
        <Notice cause="You need the manage permission to create webhooks." />
      ) : known ? (
        <FirstStep known={known} onCreated={show} onDrafted={setDrafted} />
      ) : (
        <Waiting
          error={schemes.error ?? others.error}
          reload={() => {
            schemes.reload();
            others.reload();
          }}
          what="the signature schemes"
        />
      )}
    </div>
  );
}

interface FirstProperties {
  readonly known: KnownObjects;
  readonly onCreated: (created: CreatedWebhook) => void;
  readonly onDrafted: (file: DraftedFile) => void;
}

function FirstStep({ known, onCreated, onDrafted }: FirstProperties) {
  const { managedHere } = useFactory();
  const [sender, setSender] = useState<ChosenSender>();
  const form = useRef<HTMLElement>(null);
  // On a phone, the form is below the list.
  useEffect(() => {
    if (sender && matchMedia('(max-width: 1180px)').matches) form.current?.scrollIntoView();
  }, [sender]);
  return (
    <div class="split wide-gap">
      <ProviderChoice schemes={known.schemes} chosen={sender} onChoose={setSender} />
      <aside class="sticky" ref={form}>
        {sender ? (
          <WebhookForm
            key={`${sender.authMode} ${sender.scheme}`}
            sender={sender}
            known={known}
            onCreated={onCreated}
            onDrafted={onDrafted}
          />
        ) : (
          <p class="t3">
            Choose who will deliver.
            {!managedHere && ' This factory is managed by files: you get the definition file to copy.'}
          </p>
        )}
      </aside>
    </div>
  );
}
