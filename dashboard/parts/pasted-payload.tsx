import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface Properties {
  readonly text: string;
  readonly onInput: (text: string) => void;
  /** Renders what follows a payload that is valid JSON. */
  readonly children: (payload: unknown) => ComponentChildren;
}

/** A payload that the user types or pastes. */
export function PastedPayload({ text, onInput, children }: Properties) {
  const parsed = parseJson(text);
  return (
    <>
      <Field label="Payload" hint="JSON, tested as if it came to the selected webhook.">
        {ids => (
          <textarea
            {...ids}
            class="code"
            rows={5}
            spellcheck={false}
            value={text}
            onInput={event => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
      {parsed && children(parsed.value)}
      {!parsed && text.trim() !== '' && <p class="mistake">The payload is not valid JSON.</p>}
    </>
  );
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
