import type { ComponentChildren } from 'preact';
import { Text } from './text.tsx';
import { Time } from './time.tsx';

interface Properties {
  /** The state of the row, as a pill. */
  readonly pill: ComponentChildren;
  readonly id: string;
  /** Why it failed, or else which event it is. */
  readonly note: string | undefined;
  /** How large the row is, or how many attempts it took. */
  readonly size: ComponentChildren;
  readonly at: string;
}

/** The line of a delivery or a run in a list. */
export function RowSummary({ pill, id, note, size, at }: Properties) {
  return (
    <>
      {pill}
      <code class="id">{id}</code>
      {note !== undefined && (
        <span class="note">
          <Text text={note} />
        </span>
      )}
      <span class="muted size">{size}</span>
      <span class="muted time">
        <Time at={at} />
      </span>
    </>
  );
}
