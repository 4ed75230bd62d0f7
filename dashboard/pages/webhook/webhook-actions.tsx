import { useState } from 'preact/hooks';
import type { ListedAutomation, ShownWebhook, TalliedWebhook } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { copyText } from '../../parts/copyable.tsx';
import { FormDialog, Question } from '../../parts/dialog.tsx';
import { NameField } from '../../parts/fields.tsx';
import { Menu } from '../../parts/menu.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Code } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { redirectTo } from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { useAction } from '../../state/use-action.ts';
import { countBar, toBars } from '../../text/delivery-bars.ts';
import { formatCount } from '../../text/format-values.ts';
import { SecretDialog } from './secret-dialog.tsx';

/** The tallies of one webhook, and when their first hour begins. */
export interface Tallied {
  readonly since: string;
  readonly webhook: TalliedWebhook;
}

interface ChangeProperties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook, isRotated?: boolean) => void;
}

interface DialogProperties extends ChangeProperties {
  readonly onClose: () => void;
}

interface Properties extends ChangeProperties {
  readonly tallied: Tallied | undefined;
  readonly listeners: readonly ListedAutomation[];
}

/** What can be done with a webhook. Only a webhook that is managed in the dashboard can be renamed, rotated and deleted there. */
export function WebhookMenu({ webhook, tallied, listeners, onChanged }: Properties) {
  const { mayManage, managedHere } = useFactory();
  const [asking, setAsking] = useState<'rename' | 'secret' | 'disable' | 'delete'>();
  const close = () => setAsking(undefined);
  const mayChange = mayManage && managedHere;
  const isSet = webhook.credential === 'set';
  useKeys({ u: copyLink });
  return (
    <>
      <Menu
        label={mayManage ? 'More: copy a link, rotate, rename, disable, delete' : 'More: copy a link'}
        entries={[
          ...(mayChange && webhook.authMode !== 'oidc'
            ? [
                {
                  label: isSet ? 'Rotate the secret…' : 'Enter the secret…',
                  onChoose: () => setAsking('secret'),
                },
              ]
            : []),
          ...(mayChange ? [{ label: 'Rename…', onChoose: () => setAsking('rename') }] : []),
          { label: 'Copy a link', onChoose: copyLink },
          ...(mayManage && webhook.enabled
            ? [null, { label: 'Disable…', onChoose: () => setAsking('disable') }]
            : []),
          ...(mayChange ? [{ label: 'Delete…', isBad: true, onChoose: () => setAsking('delete') }] : []),
        ]}
      />
      {asking === 'rename' && <RenameDialog webhook={webhook} onChanged={onChanged} onClose={close} />}
      {asking === 'secret' && <SecretDialog webhook={webhook} onChanged={onChanged} onClose={close} />}
      {asking === 'disable' && (
        <DisableQuestion webhook={webhook} tallied={tallied} onChanged={onChanged} onClose={close} />
      )}
      {asking === 'delete' && <DeleteQuestion {...{ webhook, listeners, onClose: close }} />}
    </>
  );
}

function copyLink(): void {
  void copyText(location.href).then(done => announce(done ? 'Link copied' : 'Could not copy the link'));
}

type DeleteProperties = Pick<Properties, 'webhook' | 'listeners'> & Pick<DialogProperties, 'onClose'>;

function DeleteQuestion({ webhook: { name, uid, sender }, listeners, onClose }: DeleteProperties) {
  const { factory } = useFactory();
  const remove = async () => {
    await callApi('delete', '/factories/{factory}/webhooks/{uid}', { factory, uid });
    announce(`Deleted ${name}`);
    redirectTo({ page: 'webhooks', factory });
  };
  return (
    <Question
      title={`Delete ${name}?`}
      keep="Keep it"
      act={`Delete ${name}`}
      acting="Deleting…"
      isDangerous
      onAct={remove}
      onClose={onClose}
    >
      <p>
        Senders get 404 immediately, and this URL cannot be restored. The delivery history stays in the log.
      </p>
      {sender && <p>Then delete its hook at {sender.provider}: nothing else needs it.</p>}
      {listeners.length > 0 && (
        <p>
          {listeners.length === 1
            ? 'This automation stays, but its trigger no longer fires: '
            : 'These automations stay, but their triggers no longer fire: '}
          <strong>{listeners.map(automation => automation.name).join(', ')}</strong>.
        </p>
      )}
    </Question>
  );
}

function RenameDialog({ webhook, onChanged, onClose }: DialogProperties) {
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

function useEnable({ webhook: { name, uid }, onChanged }: ChangeProperties) {
  const { factory } = useFactory();
  return async (enabled: boolean) => {
    const path = '/factories/{factory}/webhooks/{uid}';
    onChanged(await callApi('patch', path, { factory, uid, body: { enabled } }));
    announce(enabled ? `${name} accepts deliveries` : `${name} is disabled and answers 404`);
  };
}

function DisableQuestion({ tallied, onClose, ...changed }: Omit<Properties, 'listeners'> & DialogProperties) {
  const { followsBranch, managedHere } = useFactory();
  const { name, file } = changed.webhook;
  const enable = useEnable(changed);
  const bars = tallied ? toBars(tallied.since, tallied.webhook.tallies, 'day') : [];
  const deliveries = bars.reduce((sum, bar) => sum + countBar(bar), 0);
  return (
    <Question
      title={`Disable ${name}?`}
      keep="Keep it"
      act={`Disable ${name}`}
      acting="Disabling…"
      isDangerous
      onAct={() => enable(false)}
      onClose={onClose}
    >
      <p>
        Its sender gets 404 for every delivery from now on.{' '}
        {deliveries > 0 &&
          `It sent ${formatCount(deliveries, 'delivery', 'deliveries')} in the last 24 hours.`}
      </p>
      {!managedHere && (
        <p class="t2">
          The file <Code text={file ?? `webhooks/${name}.yaml`} /> does not change:{' '}
          {followsBranch ? 'the next commit that is applied' : 'the next apply'} enables the webhook again.
        </p>
      )}
    </Question>
  );
}

export function EnableButton(changed: ChangeProperties) {
  const enable = useEnable(changed);
  const { busy, error, control, run } = useAction(() => enable(true));
  return (
    <>
      <Button label={busy ? 'Enabling…' : 'Enable'} {...control} onClick={run} />
      <ProblemNotice error={error} />
    </>
  );
}
