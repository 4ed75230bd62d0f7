import type { Scheme, Secret } from '../../api-types.ts';
import { Field } from '../../parts/field.tsx';
import { SecretInput } from '../../parts/secret-input.tsx';
import { useFactory } from '../../state/current-factory.ts';
import {
  type SecretKind,
  secretKindOf,
  secretKindsOf,
  secretNameOf,
  type WebhookDraft,
} from '../../state/webhook-draft.ts';

const kindWords: Readonly<Record<SecretKind, string>> = {
  generated: 'Generate one, shown once',
  supplied: 'Supply what the provider shows',
  existing: 'Use an existing team secret',
  blank: 'Leave blank, supply it later',
};

interface Properties {
  readonly draft: WebhookDraft;
  readonly schemes: readonly Scheme[];
  readonly secrets: readonly Secret[];
  readonly onChange: (changed: Partial<WebhookDraft>) => void;
}

/** How the new webhook gets its secret, and what the team secret is called. */
export function NewSecretFields({ draft, schemes, secrets, onChange }: Properties) {
  const { managedHere } = useFactory();
  const scheme = draft.authMode === 'signature' ? schemes.find(({ id }) => id === draft.scheme) : undefined;
  if (draft.authMode === 'signature' && !scheme) return null;
  const kind = secretKindOf(draft, schemes);
  const kinds = secretKindsOf(draft, schemes).filter(choice => choice !== 'existing' || secrets.length > 0);
  return (
    <>
      <fieldset class="choices">
        <legend>Secret</legend>
        {scheme && (
          <p class="hint">
            {scheme.provider}: {scheme.secretLocation}
          </p>
        )}
        {kinds.map(choice => (
          <label key={choice}>
            <input
              type="radio"
              name="secret"
              checked={kind === choice}
              onChange={() => onChange({ secretKind: choice })}
            />
            {kindWords[choice]}
          </label>
        ))}
      </fieldset>
      {kind === 'supplied' && managedHere && (
        <SecretInput
          label="Secret that the provider shows"
          value={draft.suppliedValue}
          onInput={suppliedValue => onChange({ suppliedValue })}
        />
      )}
      {kind === 'existing' ? (
        <ExistingSecret draft={draft} secrets={secrets} onChange={onChange} />
      ) : (
        <Field label="Secret name" hint="What the team secret is called that keeps it.">
          {ids => (
            <input
              {...ids}
              required
              autocomplete="off"
              spellcheck={false}
              value={secretNameOf(draft, secrets)}
              onInput={event => onChange({ secretName: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

function ExistingSecret({ draft, secrets, onChange }: Omit<Properties, 'schemes'>) {
  return (
    <Field label="Team secret" hint="Its value is not shown.">
      {ids => (
        <select
          {...ids}
          value={draft.existingSecret ?? secrets[0]?.name}
          onChange={event => onChange({ existingSecret: event.currentTarget.value })}
        >
          {secrets.map(({ name, state }) => (
            <option key={name} value={name}>
              {state === 'declared' ? `${name} (no value yet)` : name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
