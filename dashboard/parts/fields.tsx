import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { nameCharsMax, namePattern, nameRule } from '../../schema/names.ts';

interface SecretInputProperties {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

// Browsers compile it with the flag v, which requires hyphens in a class to be escaped.
const pattern = namePattern.source.replace('-]', '\\-]');

interface NameFieldProperties {
  readonly value: string;
  readonly example?: string;
  readonly onInput: (name: string) => void;
}

interface CodeFieldProperties {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly rows: number;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
}

interface Properties {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly children: (ids: FieldIds) => ComponentChildren;
}

/** A form control with its label, and a hint below it. */
export function Field({ label, hint, children }: Properties) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChoicesProperties<T extends string> {
  readonly legend: string;
  readonly value: T;
  readonly options: readonly {
    readonly value: T;
    readonly label: string;
    readonly hint?: ComponentChildren;
  }[];
  readonly onChange: (value: T) => void;
}

/** Exclusive choices, one below the other, with what each means. */
export function Choices<T extends string>({ legend, value, options, onChange }: ChoicesProperties<T>) {
  const name = useId();
  return (
    <fieldset class="field choices">
      <legend class="label">{legend}</legend>
      {options.map(option => (
        <label key={option.value} class="choice">
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
          {option.hint !== undefined && <span class="hint">{option.hint}</span>}
        </label>
      ))}
    </fieldset>
  );
}

/** A field for YAML or JSON that the user types or pastes. */
export function CodeField({ label, hint, rows, value, onInput }: CodeFieldProperties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <textarea
          {...ids}
          class="input code-field"
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

/** The name of a webhook or an automation. */
export function NameField({ value, example, onInput }: NameFieldProperties) {
  return (
    <Field label="Name" hint={nameRule}>
      {ids => (
        <input
          {...ids}
          class="input"
          required
          maxLength={nameCharsMax}
          pattern={pattern}
          title={nameRule}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder={example}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A field for a secret. Browsers do not offer to save it, and do not restore it. */
export function SecretInput({ label, hint, value, onInput }: SecretInputProperties) {
  return (
    <Field label={label} hint={hint}>
      {ids => (
        <input
          {...ids}
          class="input"
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
