import { useState } from 'preact/hooks';
import { callApi } from '../api-client.ts';
import type { WebhookDetail } from '../api-types.ts';
import { useFactory } from '../factory-context.ts';
import { useAction } from '../use-action.ts';
import { Dialog } from './dialog.tsx';
import { NameField } from './name-field.tsx';
import { ProblemNotice } from './problem.tsx';

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
