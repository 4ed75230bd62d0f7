import type { ComponentChildren } from 'preact';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { CodeField } from './code-field.tsx';

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
      <CodeField
        label="Payload"
        hint="JSON, tested as if it came to the selected webhook."
        rows={5}
        value={text}
        onInput={onInput}
      />
      {parsed && children(parsed.value)}
      {!parsed && text.trim() !== '' && <p class="mistake">The payload is not valid JSON.</p>}
    </>
  );
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJsonText(text) };
  } catch {
    return undefined;
  }
}
