import type { ComponentChildren } from 'preact';
import { useAction } from '../state/use-action.ts';
import { Dialog } from './dialog.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface Properties {
  readonly title: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, action, danger = false, onConfirm, onClose, children }: Properties) {
  const { busy, error, run } = useAction(onConfirm);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ProblemNotice error={error} />
      <div class="actions end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={danger ? 'danger' : 'primary'} disabled={busy} onClick={() => run()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
