import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Revealed, Scheme, Secret, WebhookDetail } from '../../api-types.ts';
import { Breadcrumb } from '../../parts/breadcrumb.tsx';
import { Field } from '../../parts/field.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { RevealedOnce } from '../../parts/revealed-once.tsx';
import { SetupSteps } from '../../parts/setup-steps.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { go } from '../../state/current-location.ts';
import { useAction } from '../../state/use-action.ts';
import { useLoad } from '../../state/use-load.ts';
import { emptyDraft, requestOf, type WebhookDraft } from '../../state/webhook-draft.ts';
import { SchemePicker } from './scheme-picker.tsx';
import { NewSecretFields } from './secret-fields.tsx';

/** What was made, for as long as the page is open: what it reveals is kept nowhere else. */
interface Created {
  readonly webhook: WebhookDetail;
  readonly revealed: Revealed | null;
}

export function NewWebhookPage() {
  const { factory, reload } = useFactory();
  const [created, setCreated] = useState<Created>();
  const schemes = useLoad(signal => callApi('get', '/schemes', { signal }), []);
  const secrets = useLoad(
    signal => callApi('get', '/factories/{factory}/secrets', { factory, signal }),
    [factory],
  );
  if (created) return <CreatedView created={created} />;
  const show = (answer: Created) => {
    setCreated(answer);
    reload();
  };
  return (
    <>
      <Breadcrumb to={{ page: 'webhooks', factory }} label="Webhooks" />
      <PageHeading title="New webhook" />
      {schemes.value && secrets.value ? (
        <WebhookForm schemes={schemes.value.schemes} secrets={secrets.value.secrets} onCreated={show} />
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

interface FormProperties {
  readonly schemes: readonly Scheme[];
  readonly secrets: readonly Secret[];
  readonly onCreated: (created: Created) => void;
}

function WebhookForm({ schemes, secrets, onCreated }: FormProperties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [draft, setDraft] = useState<WebhookDraft>(emptyDraft);
  const change = (changed: Partial<WebhookDraft>) => setDraft(known => ({ ...known, ...changed }));
  const { busy, error, run } = useAction(async () => {
    const body = requestOf(draft, schemes, secrets);
    onCreated(await callApi('post', '/factories/{factory}/webhooks', { factory, body }));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  if (!mayManage) return <p class="notice">Your token may only read: it cannot create webhooks.</p>;
  return (
    <form class="card padded stack form" onSubmit={submit}>
      {!managedHere && (
        <p class="notice">
          The webhooks of this factory are definition files. Say what you need, and take the file along.
        </p>
      )}
      <NameField value={draft.name} onInput={name => change({ name })} example="deploys" />
      <ModeChoice draft={draft} onChange={change} />
      {draft.authMode === 'signature' && (
        <SchemePicker
          schemes={schemes}
          selected={draft.scheme}
          onSelect={scheme => change({ scheme, secretKind: undefined })}
        />
      )}
      <NewSecretFields draft={draft} schemes={schemes} secrets={secrets} onChange={change} />
      <details>
        <summary>More</summary>
        <Field
          label="Delivery ID header"
          hint="The header in which the sender stamps its own event ID, if it has one of its own. Deliveries with the same ID are duplicates."
        >
          {ids => (
            <input
              {...ids}
              autocomplete="off"
              spellcheck={false}
              placeholder="X-Event-Id"
              value={draft.deliveryIdHeader}
              onInput={event => change({ deliveryIdHeader: event.currentTarget.value })}
            />
          )}
        </Field>
      </details>
      <ProblemNotice error={error} />
      <div class="actions">
        <button
          type="submit"
          class="primary"
          disabled={busy || (draft.authMode === 'signature' && draft.scheme === undefined)}
        >
          {managedHere ? 'Create webhook' : 'Show the definition file'}
        </button>
      </div>
    </form>
  );
}

const modes = [
  ['token', 'Bearer token', 'The sender puts a secret into a header. For your own scripts and most tools.'],
  ['url_token', 'URL token', 'The secret is part of the URL. For senders that can set no header.'],
  ['signature', 'Provider signature', 'The sender signs each request. GitHub, Stripe, Sentry and many more.'],
] as const;

interface ModeProperties {
  readonly draft: WebhookDraft;
  readonly onChange: (changed: Partial<WebhookDraft>) => void;
}

function ModeChoice({ draft, onChange }: ModeProperties) {
  return (
    <fieldset class="choices cards">
      <legend>How the sender proves itself</legend>
      {modes.map(([mode, label, text]) => (
        <label key={mode}>
          <input
            type="radio"
            name="mode"
            checked={draft.authMode === mode}
            onChange={() => onChange({ authMode: mode, secretKind: undefined })}
          />
          <span>
            <strong>{label}</strong>
            <span class="hint">{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function CreatedView({ created: { webhook, revealed } }: { readonly created: Created }) {
  const { factory } = useFactory();
  return (
    <>
      <PageHeading title={`Created ${webhook.name}`} />
      <section class="card padded stack">
        {revealed ? (
          <RevealedOnce revealed={revealed} />
        ) : (
          <p>
            {webhook.credential === 'set'
              ? `It uses the team secret ${webhook.secretName}, whose value is not shown.`
              : 'Its secret is left blank: until you supply it on the page of the webhook, deliveries are answered 401.'}
          </p>
        )}
        <h2>Next</h2>
        <p>
          The ingress URL is <code>{webhook.url}</code>
        </p>
        <SetupSteps webhook={webhook} />
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => go({ page: 'webhook', factory, id: webhook.uid })}
          >
            {revealed ? 'I have saved it: open the webhook' : 'Open the webhook'}
          </button>
        </div>
      </section>
    </>
  );
}
