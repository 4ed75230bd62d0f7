import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { WebhookDetail } from '../../api-types.ts';
import { Confirm } from '../../parts/confirm-dialog.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goInstead } from '../../state/current-location.ts';
import { useLoad } from '../../state/use-load.ts';
import { RenameDialog } from './rename-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

interface Properties {
  readonly webhook: WebhookDetail;
  readonly onChanged: (webhook: WebhookDetail) => void;
}

/** What may be done to a webhook that is managed here, beside its toggle. */
export function WebhookActions({ webhook, onChanged }: Properties) {
  const [asking, setAsking] = useState<'rename' | 'secret' | 'delete'>();
  const close = () => setAsking(undefined);
  const missing = webhook.credential === 'not set';
  return (
    <>
      <button type="button" class={missing ? 'primary' : ''} onClick={() => setAsking('secret')}>
        {missing ? 'Supply secret' : 'Rotate secret'}
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

function DeleteDialog({
  webhook,
  onClose,
}: {
  readonly webhook: WebhookDetail;
  readonly onClose: () => void;
}) {
  const { factory } = useFactory();
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  const stopped =
    value?.automations.filter(({ triggers }) => triggers.some(({ uid }) => uid === webhook.uid)) ?? [];
  const remove = async () => {
    await callApi('delete', '/factories/{factory}/webhooks/{uid}', { factory, uid: webhook.uid });
    announce(`Deleted ${webhook.name}`);
    goInstead({ page: 'webhooks', factory });
  };
  return (
    <Confirm
      title={`Delete ${webhook.name}?`}
      action="Delete webhook"
      danger
      onConfirm={remove}
      onClose={onClose}
    >
      <p>Senders get 404 at once, and this URL never comes back. The delivery history stays in the log.</p>
      {stopped.length > 0 && (
        <p>
          {stopped.length === 1
            ? 'An automation stays visible but stops'
            : 'Automations stay visible but stop'}{' '}
          firing on it: <strong>{stopped.map(({ name }) => name).join(', ')}</strong>.
        </p>
      )}
    </Confirm>
  );
}
