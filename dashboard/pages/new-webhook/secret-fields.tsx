import type { ListedScheme, ListedSecret, ListedWebhook } from '../../api-answers.ts';
import { ChoiceChip } from '../../parts/chips.tsx';
import { Choices, SecretInput } from '../../parts/fields.tsx';
import { useFactory } from '../../state/current-factory.ts';
import {
  getSecretKind,
  getSecretName,
  listSecretKinds,
  type SecretKind,
  type WebhookDraft,
} from '../../state/webhook-draft.ts';
import { formatCount } from '../../text/format-values.ts';
import { splitProvider } from '../../text/senders.ts';

/** What the form knows of the daemon and the factory. */
export interface KnownObjects {
  readonly schemes: readonly ListedScheme[];
  readonly secrets: readonly ListedSecret[];
  readonly webhooks: readonly ListedWebhook[];
}

interface Properties {
  readonly draft: WebhookDraft;
  readonly known: KnownObjects;
  readonly onChange: (changed: Partial<WebhookDraft>) => void;
}

/** How the new webhook gets its secret. Nothing for senders that have none. */
export function SecretFields({ draft, known, onChange }: Properties) {
  const { managedHere } = useFactory();
  const kinds = listSecretKinds(draft.sender, known);
  const kind = getSecretKind(draft, known);
  if (kind === undefined) return null;
  const scheme = known.schemes.find(({ id }) => id === draft.sender.scheme);
  const provider = scheme ? splitProvider(scheme.provider)[0] : 'the sender';
  const texts = describeKinds(provider, getSecretName(draft, known), known.secrets.length);
  return (
    <>
      {kinds.length === 1 ? (
        <div class="field">
          <span class="label">Secret</span>
          <p class="hint">hookmill makes one. {texts[kind].hint}</p>
        </div>
      ) : (
        <Choices
          legend="Secret"
          value={kind}
          options={kinds.map(value => ({ value, ...texts[value] }))}
          onChange={secretKind => onChange({ secretKind })}
        />
      )}
      {kind === 'supplied' && managedHere && (
        <SecretInput
          label="Secret from the provider"
          hint={scheme && `${provider}: ${scheme.secretLocation}`}
          value={draft.suppliedValue}
          onInput={suppliedValue => onChange({ suppliedValue })}
        />
      )}
      {kind === 'existing' && <ExistingSecret draft={draft} known={known} onChange={onChange} />}
    </>
  );
}

function describeKinds(
  provider: string,
  secretName: string,
  secrets: number,
): Readonly<Record<SecretKind, { readonly label: string; readonly hint: string }>> {
  return {
    generated: { label: 'Make one', hint: `Shown once, on the next page. Stored as ${secretName}.` },
    supplied: { label: 'Enter the one from the provider', hint: `Stored as ${secretName}.` },
    existing: {
      label: 'Use a team secret',
      hint: `One of ${formatCount(secrets, 'secret')} that this factory has.`,
    },
    blank: {
      label: 'Enter it later',
      hint: `Once ${provider} shows it. Until then, the webhook answers 401.`,
    },
  };
}

function ExistingSecret({ draft, known: { secrets }, onChange }: Properties) {
  const selected = draft.existingSecret ?? secrets[0]?.name ?? '';
  const isUsed = secrets.some(
    ({ name, usedBy, usedElsewhere }) => name === selected && (usedBy.length > 0 || usedElsewhere),
  );
  return (
    <div class="field">
      <span>
        <ChoiceChip
          label="Team secret"
          value={selected}
          options={secrets.map(({ name, state }) => ({
            value: name,
            label: name,
            hint: state === 'declared' ? 'no value yet' : undefined,
          }))}
          onChoose={existingSecret => onChange({ existingSecret, allowShared: false })}
        />
      </span>
      <p class="hint">Its value is not shown.</p>
      {isUsed && (
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.allowShared}
            onChange={event => onChange({ allowShared: event.currentTarget.checked })}
          />
          Allow it even if another webhook uses it with another mode or scheme
        </label>
      )}
    </div>
  );
}
