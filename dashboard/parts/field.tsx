import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldIds {
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
