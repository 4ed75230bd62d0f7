import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { NameField, Switch } from '../../parts/fields.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useListeners } from '../../state/loaded-objects.ts';
import { useAction } from '../../state/use-action.ts';
import { SecretDialog } from './secret-dialog.tsx';

interface EnabledSwitchProperties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

interface RenameDialogProperties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
  readonly onClose: () => void;
}

interface DeleteDialogProperties {
  readonly webhook: ShownWebhook;
  readonly onClose: () => void;
}

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
      {webhook.authMode !== 'oidc' && (
        <button type="button" class={lacksSecret ? 'primary' : ''} onClick={() => setAsking('secret')}>
          {lacksSecret ? 'Enter secret' : 'Rotate secret'}
        </button>
      )}
      <button type="button" class="btn" onClick={() => setAsking('rename')}>
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

function DeleteDialog({ webhook: { name, uid, sender }, onClose }: DeleteDialogProperties) {
  const { factory } = useFactory();
  const listening = useListeners(uid) ?? [];
  const remove = async () => {
    await callApi('delete', '/factories/{factory}/webhooks/{uid}', { factory, uid });
    announce(`Deleted ${name}`);
    redirectTo({ page: 'webhooks', factory });
  };
  return (
    <FormDialog title={`Delete ${name}?`} action="Delete webhook" danger onSubmit={remove} onClose={onClose}>
      <p>
        Senders get 404 immediately, and this URL cannot be restored. The delivery history stays in the log.
      </p>
      {sender && <p>Then delete its hook at {sender.provider}: nothing else needs it.</p>}
      {listening.length > 0 && (
        <p>
          {listening.length === 1
            ? 'This automation stays, but its trigger no longer fires: '
            : 'These automations stay, but their triggers no longer fire: '}
          <strong>{listening.map(automation => automation.name).join(', ')}</strong>.
        </p>
      )}
    </FormDialog>
  );
}

function RenameDialog({ webhook, onChanged, onClose }: RenameDialogProperties) {
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

export function EnabledSwitch({ webhook: { name, uid, enabled }, onChanged }: EnabledSwitchProperties) {
  const { factory } = useFactory();
  const { busy, error, run } = useAction(async (enable: boolean) => {
    const path = '/factories/{factory}/webhooks/{uid}';
    onChanged(await callApi('patch', path, { factory, uid, body: { enabled: enable } }));
    announce(enable ? `${name} accepts deliveries` : `${name} is disabled and answers 404`);
  });
  return (
    <>
      <Switch label="Enabled" on={enabled} disabled={busy} onToggle={run} />
      <ProblemNotice error={error} />
    </>
  );
}
