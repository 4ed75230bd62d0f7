import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Revealed, WebhookDetail } from '../../api-types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { RevealedOnce } from '../../parts/revealed-once.tsx';
import { SecretInput } from '../../parts/secret-input.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useAction } from '../../state/use-action.ts';
import { useLoad } from '../../state/use-load.ts';
import { takesSecretOfOurs } from '../../text/sender-labels.ts';

interface Properties {
  readonly webhook: WebhookDetail;
  readonly onChanged: (webhook: WebhookDetail) => void;
  readonly onClose: () => void;
}

/** Rotates a webhook's secret, or supplies the one that was left blank. */
export function SecretDialog(properties: Properties) {
  const { webhook, onClose } = properties;
  const title = webhook.credential === 'set' ? 'Rotate secret' : 'Supply secret';
  const schemes = useLoad(signal => callApi('get', '/schemes', { signal }), []);
  return (
    <Dialog title={`${title} of ${webhook.name}`} onClose={onClose}>
      {schemes.value ? (
        <SecretForm
          {...properties}
          canGenerate={takesSecretOfOurs(webhook, schemes.value.schemes)}
          action={title}
        />
      ) : (
        <Waiting error={schemes.error} reload={schemes.reload} what="the scheme" />
      )}
    </Dialog>
  );
}

function SecretForm({
  webhook,
  onChanged,
  onClose,
  canGenerate,
  action,
}: Properties & { readonly canGenerate: boolean; readonly action: string }) {
  const { factory } = useFactory();
  const canSupply = webhook.authMode === 'signature';
  const [generates, setGenerates] = useState(canGenerate);
  const [value, setValue] = useState('');
  // In memory for as long as the dialog is open.
  const [revealed, setRevealed] = useState<Revealed>();
  const { busy, error, run } = useAction(async () => {
    const path = '/factories/{factory}/webhooks/{uid}/secret';
    const body = generates ? {} : { value: value.trim() };
    const changed = await callApi('post', path, { factory, uid: webhook.uid, body });
    onChanged(changed.webhook);
    setValue('');
    if (changed.revealed) setRevealed(changed.revealed);
    else onClose();
  });
  if (revealed) {
    return (
      <>
        <RevealedOnce revealed={revealed} />
        <div class="actions end">
          <button type="button" class="primary" onClick={onClose}>
            I have saved it
          </button>
        </div>
      </>
    );
  }
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return (
    <form class="stack" onSubmit={submit}>
      {webhook.credential === 'set' && (
        <p>
          The old secret stops working at once: until the sender has the new one, its deliveries are answered
          401.
        </p>
      )}
      {canSupply && canGenerate && (
        <fieldset class="choices">
          <legend>New secret</legend>
          <label>
            <input type="radio" name="source" checked={generates} onChange={() => setGenerates(true)} />{' '}
            Generate one
          </label>
          <label>
            <input type="radio" name="source" checked={!generates} onChange={() => setGenerates(false)} />{' '}
            Supply the provider's
          </label>
        </fieldset>
      )}
      {!generates && <SecretInput label="Secret that the provider shows" value={value} onInput={setValue} />}
      <ProblemNotice error={error} />
      <div class="actions end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {action}
        </button>
      </div>
    </form>
  );
}
