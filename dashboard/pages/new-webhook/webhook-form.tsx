import { useState } from 'preact/hooks';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import {
  ApiFailure,
  type CreatedWebhook,
  type ListedScheme,
  type ProblemDetails,
} from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { CodeField, Field, NameField } from '../../parts/fields.tsx';
import { Monogram } from '../../parts/monogram.tsx';
import { Diagnostics, ProblemNotice } from '../../parts/problem-notice.tsx';
import { Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSubmit } from '../../state/use-action.ts';
import {
  buildWebhookBody,
  type ChosenSender,
  createWebhookDraft,
  getName,
  getSecretKind,
  getSecretName,
  isDescribed,
  type WebhookDraft,
} from '../../state/webhook-draft.ts';
import { splitProvider } from '../../text/senders.ts';
import { nameKind, OwnMark, ownSenders } from './provider-choice.tsx';
import { type KnownObjects, SecretFields } from './secret-fields.tsx';

/** The definition file that makes the webhook, in a factory that is managed by files. */
export interface DraftedFile {
  readonly instead: NonNullable<ProblemDetails['instead']>;
  readonly sender: ChosenSender;
  /** The command that makes the team secret; undefined if there is one already, or if there is none. */
  readonly secretCommand: string | undefined;
}

interface Properties {
  readonly sender: ChosenSender;
  readonly known: KnownObjects;
  readonly onCreated: (created: CreatedWebhook) => void;
  readonly onDrafted: (file: DraftedFile) => void;
}

/** The name and the secret of a webhook for a sender, and what is rarely needed. */
export function WebhookForm({ sender, known, onCreated, onDrafted }: Properties) {
  const { factory, managedHere } = useFactory();
  const [draft, setDraft] = useState(() => createWebhookDraft(sender));
  const [diagnostics, setDiagnostics] = useState<readonly Diagnostic[]>([]);
  const change = (changed: Partial<WebhookDraft>) => setDraft(known => ({ ...known, ...changed }));
  const { error, control, submit } = useSubmit(async () => {
    const keys = await parseKeys(draft.keys);
    setDiagnostics(keys.ok ? [] : keys.diagnostics);
    if (!keys.ok) return;
    const body = buildWebhookBody(draft, known, keys.value);
    try {
      onCreated(await callApi('post', '/factories/{factory}/webhooks', { factory, body }));
    } catch (failure) {
      const instead = failure instanceof ApiFailure ? failure.problem?.instead : undefined;
      if (instead?.yaml === undefined) throw failure;
      onDrafted({ instead, sender, secretCommand: findSecretCommand(draft, known, instead.yaml) });
    }
  });
  const describes = isDescribed(sender);
  return (
    <form class="new-webhook-form" onSubmit={submit}>
      <SenderHeading sender={sender} schemes={known.schemes} />
      <NameField value={getName(draft, known)} onInput={name => change({ name })} example="deploys" />
      {describes && <KeysField value={draft.keys} onInput={keys => change({ keys })} />}
      <SecretFields draft={draft} known={known} onChange={change} />
      <IdentityHint scheme={known.schemes.find(({ id }) => id === sender.scheme)} />
      <MoreOptions draft={draft} known={known} onChange={change} />
      {diagnostics.length > 0 && <Diagnostics diagnostics={diagnostics} />}
      <ProblemNotice error={error} />
      <Button
        look="primary"
        label={managedHere ? 'Create webhook' : 'Show the definition file'}
        type="submit"
        {...control}
      />
    </form>
  );
}

/** Parses further keys of a definition. The parser is loaded only for them: it is as large as the rest of the page. */
async function parseKeys(
  text: string,
): Promise<
  | { readonly ok: true; readonly value: object }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
> {
  if (text.trim() === '') return { ok: true, value: {} };
  const { parseYaml } = await import('../../../schema/definitions/yaml-source.ts');
  const parsed = parseYaml('Definition', new TextEncoder().encode(text));
  return parsed.ok ? { ok: true, value: Object(parsed.source.value ?? {}) } : parsed;
}

/** The command with which somebody makes the team secret of a definition file. */
function findSecretCommand(draft: WebhookDraft, known: KnownObjects, yaml: string): string | undefined {
  const [, name = ''] = /^secretName: (.+)$/m.exec(yaml) ?? [];
  const commands = {
    generated: `hookmill secrets generate ${name}`,
    supplied: `hookmill secrets set ${name}`,
    blank: `hookmill secrets declare ${name}`,
    existing: undefined,
  };
  const kind = getSecretKind(draft, known);
  return kind && commands[kind];
}

function SenderHeading({
  sender,
  schemes,
}: {
  readonly sender: ChosenSender;
  readonly schemes: readonly ListedScheme[];
}) {
  const scheme = schemes.find(({ id }) => id === sender.scheme);
  const own = ownSenders.find(({ authMode }) => authMode === sender.authMode);
  const [name, form] = scheme ? splitProvider(scheme.provider) : [own?.label ?? '', own?.hint];
  return (
    <div class="flow sender-heading">
      {scheme ? <Monogram scheme={scheme.id} name={name} size="l" /> : <OwnMark size="l" />}
      <div>
        <h2>{name}</h2>
        <p class="t3">{form ?? nameKind(scheme?.kind ?? '')}</p>
      </div>
    </div>
  );
}

/** Where the sender puts its signature, and by what a retry is recognised. */
function IdentityHint({ scheme }: { readonly scheme: ListedScheme | undefined }) {
  const find = (label: string) => scheme?.summary.find(line => line.label === label)?.text;
  const [header, identity, note] = [find('Header'), find('Delivery identity'), find('Note')];
  if (header === undefined || identity === undefined) return null;
  return (
    <p class="hint">
      It signs in <code>{header}</code>. A retry is recognised by {identity}. <Text text={note ?? ''} />
    </p>
  );
}

interface FieldProperties {
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function KeysField(properties: FieldProperties) {
  return (
    <CodeField
      label="Definition keys"
      hint="YAML, as in a definition file."
      rows={Math.max(3, properties.value.split('\n').length)}
      {...properties}
    />
  );
}

interface MoreProperties {
  readonly draft: WebhookDraft;
  readonly known: KnownObjects;
  readonly onChange: (changed: Partial<WebhookDraft>) => void;
}

function MoreOptions({ draft, known, onChange }: MoreProperties) {
  const kind = getSecretKind(draft, known);
  return (
    <details class="more-options">
      <summary>More options</summary>
      {kind !== undefined && kind !== 'existing' && (
        <TextField
          label="Secret name"
          hint="Name under which the secret is stored."
          value={getSecretName(draft, known)}
          onInput={secretName => onChange({ secretName })}
          required
        />
      )}
      <TextField
        label="Delivery ID"
        hint="The header in which the sender puts its own event ID, or the path of its field in the body, such as $.id. Deliveries with the same ID are duplicates."
        placeholder="X-Event-Id"
        value={draft.deliveryId}
        onInput={deliveryId => onChange({ deliveryId })}
      />
      <TextField
        label="Headers to keep"
        hint="More request headers to keep of each delivery, for header filters and runs, separated by commas. The headers of the event type and ID are kept anyway."
        placeholder="X-Tenant"
        value={draft.keepHeaders}
        onInput={keepHeaders => onChange({ keepHeaders })}
      />
      {!isDescribed(draft.sender) && <KeysField value={draft.keys} onInput={keys => onChange({ keys })} />}
    </details>
  );
}

interface TextFieldProperties extends FieldProperties {
  readonly label: string;
  readonly hint: string;
  readonly placeholder?: string;
  readonly required?: boolean;
}

function TextField({ label, hint, placeholder, required = false, value, onInput }: TextFieldProperties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <input
          {...ids}
          class="input"
          required={required}
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
