import { nameCharsMax, namePattern, nameRule } from '../../schema/name.ts';
import { Field } from './field.tsx';

// Browsers compile it with the flag v, which requires hyphens in a class to be escaped.
const pattern = namePattern.source.replace('-]', '\\-]');

interface Properties {
  readonly value: string;
  readonly example?: string;
  readonly onInput: (name: string) => void;
}

/** The name of a webhook or an automation. */
export function NameField({ value, example, onInput }: Properties) {
  return (
    <Field label="Name" hint={nameRule}>
      {ids => (
        <input
          {...ids}
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
