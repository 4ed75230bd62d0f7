import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Properties {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether the dialog stays when the user presses Escape. */
  readonly stays?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus inside, closes it on Escape, and then returns the focus. */
export function Dialog({ title, onClose, stays = false, children }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const gone = useRef(false);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => {
      gone.current = true;
      // Returns the focus to where it was.
      opened?.close();
    };
  }, []);
  // The close event comes late: by then the next dialog may be open.
  const close = () => {
    if (gone.current) return;
    // Browsers close a dialog on the second Escape, whatever its cancel event says.
    if (stays) dialog.current?.showModal();
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={event => stays && event.preventDefault()}
      onClose={close}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
