import { useState } from 'preact/hooks';
import type { ShownWebhook } from '../../api-types.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

/** The buttons that change a webhook that is managed in the dashboard. */
export function WebhookActions({ webhook, onChanged }: Properties) {
  const [asking, setAsking] = useState<'rename' | 'secret' | 'delete'>();
  const close = () => setAsking(undefined);
  const lacksSecret = webhook.credential === 'not set';
  return (
    <>
      <button type="button" class={lacksSecret ? 'primary' : ''} onClick={() => setAsking('secret')}>
        {lacksSecret ? 'Enter secret' : 'Rotate secret'}
      </button>
      <button type="button" onClick={() => setAsking('rename')}>
        Rename
      </button>
      <button type="button" class="danger-quiet" onClick={() => setAsking('delete')}>
        Delete
      </button>
      {asking === 'rename' && <RenameDialog webhook={webhook} onChanged={onChanged} onClose={close} />}
      {asking === 'secret' && <SecretDialog webhook={webhook} onChanged={onChanged} onClose={close} />}
      {asking === 'delete' && <DeleteDialog webhook={webhook} onClose={close} />}
    </>
  );
}
