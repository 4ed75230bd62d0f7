import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface Properties {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** A field for a secret. Browsers do not offer to save it, and do not restore it. */
export function SecretInput({ label, hint, value, onInput }: Properties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <input
          {...ids}
          type="password"
          required
          autocomplete="new-password"
          spellcheck={false}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
