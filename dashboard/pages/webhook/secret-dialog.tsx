import { useState } from 'preact/hooks';
import type { ShownWebhook } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Dialog, DialogForm } from '../../parts/dialog.tsx';
import { Choices, SecretInput } from '../../parts/fields.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { type GeneratedSecret, RevealedOnce } from '../../parts/revealed-once.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSchemeOf } from '../../state/loaded-objects.ts';
import { canGenerateSecret } from '../../state/webhook-draft.ts';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook, isRotated?: boolean) => void;
  readonly onClose: () => void;
}

/** Rotates the secret of a webhook, or sets the one that was left blank. */
export function SecretDialog({ webhook, onChanged, onClose }: Properties) {
  const action = webhook.credential === 'set' ? 'Rotate secret' : 'Enter secret';
  const scheme = useSchemeOf(webhook);
  // The generated secret is kept nowhere else, and only while the dialog is open.
  const [revealed, setRevealed] = useState<GeneratedSecret>();
  const finish = (changed: ShownWebhook, generated: GeneratedSecret | null) => {
    onChanged(changed, true);
    if (generated) setRevealed(generated);
    else onClose();
  };
  const title = `${action} of ${webhook.name}`;
  if (revealed) return <RevealedOnce title={title} generated={revealed} onStored={onClose} />;
  return (
    <Dialog title={title} onClose={onClose}>
      {scheme.value !== undefined ? (
        <SecretForm
          webhook={webhook}
          canGenerate={canGenerateSecret(webhook, scheme.value === null ? [] : [scheme.value])}
          action={action}
          onFinished={finish}
          onClose={onClose}
        />
      ) : (
        <Waiting error={scheme.error} reload={scheme.reload} what="the signature scheme" />
      )}
    </Dialog>
  );
}

interface FormProperties {
  readonly webhook: ShownWebhook;
  readonly canGenerate: boolean;
  readonly action: string;
  readonly onFinished: (webhook: ShownWebhook, revealed: GeneratedSecret | null) => void;
  readonly onClose: () => void;
}

function SecretForm({ webhook, canGenerate, action, onFinished, onClose }: FormProperties) {
  const { factory } = useFactory();
  const [generates, setGenerates] = useState(canGenerate);
  const [value, setValue] = useState('');
  const change = async () => {
    const path = '/factories/{factory}/webhooks/{uid}/secret';
    const body = generates ? {} : { value: value.trim() };
    const changed = await callApi('post', path, { factory, uid: webhook.uid, body });
    onFinished(changed.webhook, changed.revealed);
  };
  return (
    <DialogForm action={action} onSubmit={change} onClose={onClose}>
      {webhook.credential === 'set' && (
        <p>
          The old secret stops working immediately. Deliveries are answered 401 until the sender uses the new
          one.
        </p>
      )}
      {webhook.authMode === 'signature' && canGenerate && (
        <Choices
          legend="New secret"
          value={generates ? 'made' : 'given'}
          options={[
            { value: 'made', label: 'Make one', hint: 'Shown once, then never again.' },
            { value: 'given', label: 'Enter the one from the provider' },
          ]}
          onChange={value => setGenerates(value === 'made')}
        />
      )}
      {!generates && <SecretInput label="Secret from the provider" value={value} onInput={setValue} />}
    </DialogForm>
  );
}
