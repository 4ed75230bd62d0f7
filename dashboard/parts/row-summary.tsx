import type { ComponentChildren } from 'preact';
import { Text, Time } from './text.tsx';

interface Properties {
  /** The state of the row, as a pill. */
  readonly pill: ComponentChildren;
  readonly id: string;
  /** The webhook or automation of the row, in a list with rows of several. */
  readonly source?: string | undefined;
  /** Why it failed, or else which event it is. */
  readonly note: string | undefined;
  /** The beginning of the payload. */
  readonly preview?: ComponentChildren;
  /** The runs that it started. */
  readonly runs?: ComponentChildren;
  /** How large the row is, or how many attempts it took. */
  readonly size: ComponentChildren;
  readonly at: string;
}

/** The line of a delivery or a run in a list. */
export function RowSummary({ pill, id, source, note, preview, runs, size, at }: Properties) {
  return (
    <>
      {pill}
      <code class="id">{id}</code>
      <span class="note">
        {source !== undefined && (
          <strong>
            <Text text={source} />
          </strong>
        )}
        {note !== undefined && (
          <span class="about">
            <Text text={note} />
          </span>
        )}
        {preview && <code>{preview}</code>}
      </span>
      <span class="counts">{runs}</span>
      <span class="t3 size">{size}</span>
      <span class="t3 time">
        <Time at={at} />
      </span>
    </>
  );
}
