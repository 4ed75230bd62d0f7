import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Properties {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question over the page. The browser keeps the focus inside and closes it on Escape; the focus goes back after. */
export function Dialog({ title, onClose, children }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const gone = useRef(false);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => {
      gone.current = true;
      // Else the focus would not go back to where it was.
      opened?.close();
    };
  }, []);
  // What `close` tells comes later, when the next dialog may be open.
  const close = () => {
    if (!gone.current) onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={close}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
