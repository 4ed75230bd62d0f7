import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { useFactory } from '../../state/current-factory.ts';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
  readonly onClose: () => void;
}

export function RenameDialog({ webhook, onChanged, onClose }: Properties) {
  const { factory } = useFactory();
  const [name, setName] = useState(webhook.name);
  const rename = async () => {
    const path = '/factories/{factory}/webhooks/{uid}';
    const { uid, serial } = webhook;
    onChanged(await callApi('patch', path, { factory, uid, ifSerial: serial, body: { name } }));
    onClose();
  };
  return (
    <FormDialog title={`Rename ${webhook.name}`} action="Rename" onSubmit={rename} onClose={onClose}>
      <NameField value={name} onInput={setName} />
      <p class="hint">Its URL stays the same.</p>
    </FormDialog>
  );
}
