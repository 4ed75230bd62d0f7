import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { FormDialog } from '../../parts/dialog-form.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useListeners } from '../../state/use-listeners.ts';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onClose: () => void;
}

export function DeleteDialog({ webhook: { name, uid }, onClose }: Properties) {
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
