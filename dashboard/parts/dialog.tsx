import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { daemonAway } from '../state/connection.ts';
import { awayReason, useAction, useSubmit } from '../state/use-action.ts';
import { Button } from './controls.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface Properties {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether the dialog stays when the user presses Escape. */
  readonly stays?: boolean;
  readonly children: ComponentChildren;
}

/** Shows a dialog while its component is there, and then returns the focus to where it was. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  /** The close event comes late: by then the next dialog may be open. */
  const gone = useRef(false);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => {
      gone.current = true;
      opened?.close();
    };
  }, []);
  return { dialog, gone };
}

/** A modal dialog. The browser keeps the focus inside, closes it on Escape, and then returns the focus. */
export function Dialog({ title, onClose, stays = false, children }: Properties) {
  const { dialog, gone } = useModal();
  const titleId = useId();
  const close = () => {
    if (gone.current) return;
    // Browsers close a dialog on the second Escape, whatever its cancel event says.
    if (stays) dialog.current?.showModal();
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={event => stays && event.preventDefault()}
      onClose={close}
    >
      <h2 id={titleId}>{title}</h2>
      {daemonAway.value && <p class="t3">{awayReason} Nothing can be changed meanwhile.</p>}
      {children}
    </dialog>
  );
}

interface QuestionProperties {
  /** The question. */
  readonly title: string;
  readonly children: ComponentChildren;
  /** The answer that changes nothing: `Keep it`. The focus begins on it. */
  readonly keep: string;
  /** The answer that acts: `Disable stripe`. */
  readonly act: string;
  /** What the answer says while it acts: `Disabling…`. */
  readonly acting: string;
  readonly isDangerous?: boolean;
  readonly onAct: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone, or that others notice. It closes once that is done. */
export function Question(properties: QuestionProperties) {
  const { title, children, keep, act, acting, isDangerous = false, onAct, onClose } = properties;
  const action = useAction(async () => {
    await onAct();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ProblemNotice error={action.error} />
      <div class="actions">
        <Button label={keep} autofocus onClick={onClose} />
        <Button
          look={isDangerous ? 'danger' : 'primary'}
          label={action.busy ? acting : act}
          {...action.control}
          onClick={() => action.run()}
        />
      </div>
    </Dialog>
  );
}

interface FormProperties {
  /** The label of the button that submits. */
  readonly action: string;
  readonly danger?: boolean;
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The content of a dialog that asks before it acts, with its error and its two buttons. */
export function DialogForm({ action, danger = false, onSubmit, onClose, children }: FormProperties) {
  const { error, submit, control } = useSubmit(onSubmit);
  return (
    <form class="stack" onSubmit={submit}>
      {children}
      <ProblemNotice error={error} />
      <div class="actions end">
        <Button label="Cancel" onClick={onClose} />
        <button type="submit" class={danger ? 'btn danger' : 'btn primary'} {...control}>
          {action}
        </button>
      </div>
    </form>
  );
}

/** A dialog that holds one such form. */
export function FormDialog({ title, ...form }: FormProperties & { readonly title: string }) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <DialogForm {...form} />
    </Dialog>
  );
}
