import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { WebhookDetail } from '../../api-types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useAction } from '../../state/use-action.ts';

interface Properties {
  readonly webhook: WebhookDetail;
  readonly onChanged: (webhook: WebhookDetail) => void;
  readonly onClose: () => void;
}

export function RenameDialog({ webhook, onChanged, onClose }: Properties) {
  const { factory } = useFactory();
  const [name, setName] = useState(webhook.name);
  const { busy, error, run } = useAction(async () => {
    const path = '/factories/{factory}/webhooks/{uid}';
    const { uid, serial } = webhook;
    onChanged(await callApi('patch', path, { factory, uid, ifSerial: serial, body: { name } }));
    onClose();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return (
    <Dialog title={`Rename ${webhook.name}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <NameField value={name} onInput={setName} />
        <p class="hint">Its URL stays the same.</p>
        <ProblemNotice error={error} />
        <div class="actions end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
