import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface Properties {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly rows: number;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

/** A field for YAML or JSON that the user types or pastes. */
export function CodeField({ label, hint, rows, value, onInput }: Properties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <textarea
          {...ids}
          class="code"
          rows={rows}
          spellcheck={false}
          autocomplete="off"
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
