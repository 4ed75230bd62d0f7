import type { ComponentChildren } from 'preact';
import { useSubmit } from '../state/use-action.ts';
import { Dialog } from './dialog.tsx';
import { ProblemNotice } from './problem-notice.tsx';

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
        <button type="button" class="btn" onClick={onClose}>
          Cancel
        </button>
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
