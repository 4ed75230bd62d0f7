import type { ListedScheme, ListedSecret } from '../../api-types.ts';
import { Field, SecretInput } from '../../parts/fields.tsx';
import { useFactory } from '../../state/current-factory.ts';
import {
  getSecretKind,
  getSecretName,
  listSecretKinds,
  type SecretKind,
  type WebhookDraft,
} from '../../state/webhook-draft.ts';

const kindLabels: Readonly<Record<SecretKind, string>> = {
  generated: 'Generate one (shown once)',
  supplied: 'Enter the one from the provider',
  existing: 'Use an existing team secret',
  blank: 'Leave blank and enter it later',
};

interface Properties {
  readonly draft: WebhookDraft;
  readonly schemes: readonly ListedScheme[];
  readonly secrets: readonly ListedSecret[];
  readonly onChange: (changed: Partial<WebhookDraft>) => void;
}

/** How the new webhook gets its secret, and the name of the team secret. */
export function SecretFields({ draft, schemes, secrets, onChange }: Properties) {
  const { managedHere } = useFactory();
  if (draft.authMode === 'signature' && !findScheme(draft, schemes)) return null;
  const kind = getSecretKind(draft, schemes);
  return (
    <>
      <SecretKindChoice draft={draft} schemes={schemes} secrets={secrets} onChange={onChange} />
      {kind === 'supplied' && managedHere && (
        <SecretInput
          label="Secret from the provider"
          value={draft.suppliedValue}
          onInput={suppliedValue => onChange({ suppliedValue })}
        />
      )}
      {kind === 'existing' ? (
        <ExistingSecret draft={draft} secrets={secrets} onChange={onChange} />
      ) : (
        <Field label="Secret name" hint="Name under which the secret is stored.">
          {ids => (
            <input
              {...ids}
              required
              autocomplete="off"
              spellcheck={false}
              value={getSecretName(draft, secrets)}
              onInput={event => onChange({ secretName: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

function SecretKindChoice({ draft, schemes, secrets, onChange }: Properties) {
  const selected = getSecretKind(draft, schemes);
  const kinds = listSecretKinds(draft, schemes).filter(kind => kind !== 'existing' || secrets.length > 0);
  const scheme = findScheme(draft, schemes);
  return (
    <fieldset class="choices">
      <legend>Secret</legend>
      {scheme && (
        <p class="hint">
          {scheme.provider}: {scheme.secretLocation}
        </p>
      )}
      {kinds.map(kind => (
        <label key={kind}>
          <input
            type="radio"
            name="secret"
            checked={selected === kind}
            onChange={() => onChange({ secretKind: kind })}
          />
          {kindLabels[kind]}
        </label>
      ))}
    </fieldset>
  );
}

function ExistingSecret({ draft, secrets, onChange }: Omit<Properties, 'schemes'>) {
  const selected = draft.existingSecret ?? secrets[0]?.name;
  const isUsed = secrets.some(
    ({ name, usedBy, usedElsewhere }) => name === selected && (usedBy.length > 0 || usedElsewhere),
  );
  return (
    <>
      <Field label="Team secret" hint="Its value is not shown.">
        {ids => (
          <select
            {...ids}
            value={selected}
            onChange={event => onChange({ existingSecret: event.currentTarget.value, allowShared: false })}
          >
            {secrets.map(({ name, state }) => (
              <option key={name} value={name}>
                {state === 'declared' ? `${name} (no value yet)` : name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isUsed && (
        <label>
          <input
            type="checkbox"
            checked={draft.allowShared}
            onChange={event => onChange({ allowShared: event.currentTarget.checked })}
          />
          Allow it even if another webhook uses it with another mode or scheme
        </label>
      )}
    </>
  );
}

function findScheme(draft: WebhookDraft, schemes: readonly ListedScheme[]): ListedScheme | undefined {
  return draft.authMode === 'signature' ? schemes.find(({ id }) => id === draft.scheme) : undefined;
}
