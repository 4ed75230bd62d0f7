import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

interface Properties {
  /** The row that is always visible. */
  readonly summary: ComponentChildren;
  /** Renders the detail, while it is open. */
  readonly children: () => ComponentChildren;
  readonly class?: string;
}

/** Whether a row is open in a part of the page. What is above it should then keep its height. */
export function isRowOpen(part: ParentNode): boolean {
  return part.querySelector('.row-summary[aria-expanded="true"]') !== null;
}

/** A row of a list that opens to show its detail. */
export function Disclosure({ summary, children, class: className = '' }: Properties) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <li class={`row ${className}`}>
      <button
        type="button"
        class="row-summary"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {summary}
      </button>
      <div id={id} class="row-detail" hidden={!open}>
        {open && children()}
      </div>
    </li>
  );
}
