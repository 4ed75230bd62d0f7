import { useState } from 'preact/hooks';
import type { AuthMode } from '../../../schema/ingress-url.ts';
import { callApi } from '../../api-client.ts';
import type { CreatedWebhook, ListedScheme, ListedSecret } from '../../api-types.ts';
import { Field, NameField } from '../../parts/fields.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSubmit } from '../../state/use-action.ts';
import { buildWebhookBody, emptyWebhookDraft, type WebhookDraft } from '../../state/webhook-draft.ts';
import { SchemePicker } from './scheme-picker.tsx';
import { SecretFields } from './secret-fields.tsx';

const modes = [
  ['token', 'Bearer token', 'The sender puts a secret in a header. For your own scripts and most tools.'],
  ['url_token', 'URL token', 'The secret is part of the URL. For senders that cannot set a header.'],
  ['signature', 'Provider signature', 'The sender signs each request. GitHub, Stripe, Sentry and many more.'],
] as const;

interface AuthModeChoiceProperties {
  readonly selected: AuthMode;
  readonly onSelect: (mode: AuthMode) => void;
}

interface Properties {
  readonly schemes: readonly ListedScheme[];
  readonly secrets: readonly ListedSecret[];
  readonly onCreated: (created: CreatedWebhook) => void;
}

export function WebhookForm({ schemes, secrets, onCreated }: Properties) {
  const { factory, mayManage, managedHere } = useFactory();
  const [draft, setDraft] = useState(emptyWebhookDraft);
  const change = (changed: Partial<WebhookDraft>) => setDraft(known => ({ ...known, ...changed }));
  const { busy, error, submit } = useSubmit(async () => {
    const body = buildWebhookBody(draft, schemes, secrets);
    onCreated(await callApi('post', '/factories/{factory}/webhooks', { factory, body }));
  });
  if (!mayManage) return <p class="notice">You need the manage permission to create webhooks.</p>;
  const needsScheme = draft.authMode === 'signature' && draft.scheme === undefined;
  return (
    <form class="card padded stack form" onSubmit={submit}>
      {!managedHere && (
        <p class="notice">
          The webhooks of this factory are defined in files. Fill in the form, then copy the definition file
          that it shows.
        </p>
      )}
      <NameField value={draft.name} onInput={name => change({ name })} example="deploys" />
      <AuthModeChoice
        selected={draft.authMode}
        onSelect={authMode => change({ authMode, secretKind: undefined })}
      />
      {draft.authMode === 'signature' && (
        <SchemePicker
          schemes={schemes}
          selected={draft.scheme}
          onSelect={scheme => change({ scheme, secretKind: undefined })}
        />
      )}
      <SecretFields draft={draft} schemes={schemes} secrets={secrets} onChange={change} />
      <details>
        <summary>More options</summary>
        <DeliveryIdField value={draft.deliveryId} onInput={deliveryId => change({ deliveryId })} />
        <KeepHeadersField value={draft.keepHeaders} onInput={keepHeaders => change({ keepHeaders })} />
      </details>
      <ProblemNotice error={error} />
      <div class="actions">
        <button type="submit" class="btn primary" disabled={busy || needsScheme}>
          {managedHere ? 'Create webhook' : 'Show the definition file'}
        </button>
      </div>
    </form>
  );
}

interface FieldProperties {
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function DeliveryIdField(properties: FieldProperties) {
  const hint =
    'The header in which the sender puts its own event ID, or the path of its field in the body, such as $.id. Deliveries with the same ID are duplicates.';
  return <HeaderField label="Delivery ID" hint={hint} placeholder="X-Event-Id" {...properties} />;
}

function KeepHeadersField(properties: FieldProperties) {
  const hint =
    'More request headers to keep of each delivery, for header filters and runs, separated by commas. The headers of the event type and ID are kept anyway.';
  return <HeaderField label="Headers to keep" hint={hint} placeholder="X-Tenant" {...properties} />;
}

interface HeaderFieldProperties extends FieldProperties {
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
}

function HeaderField({ label, hint, placeholder, value, onInput }: HeaderFieldProperties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <input
          {...ids}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function AuthModeChoice({ selected, onSelect }: AuthModeChoiceProperties) {
  return (
    <fieldset class="choices cards">
      <legend>How the sender authenticates</legend>
      {modes.map(([mode, label, text]) => (
        <label key={mode}>
          <input type="radio" name="mode" checked={selected === mode} onChange={() => onSelect(mode)} />
          <span>
            <strong>{label}</strong>
            <span class="hint">{text}</span>
          </span>
        </label>
      ))}
      <p class="hint">
        A sender with a token of an OpenID Connect issuer, such as a CI job, needs no secret: write a
        definition file with <code>authMode: oidc</code>.
      </p>
    </fieldset>
  );
}
