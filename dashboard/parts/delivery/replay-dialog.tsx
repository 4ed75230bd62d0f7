import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { formatCount } from '../../text/format-count.ts';
import { FormDialog } from '../dialog-form.tsx';
import { Field } from '../field.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

export function ReplayDialog({ delivery, onReplayed, onClose }: Properties) {
  const { factory } = useFactory();
  const [automation, setAutomation] = useState('');
  const listening = delivery.evaluation?.automations.map(verdict => verdict.automation) ?? [];
  const replay = async () => {
    const { runs } = await callApi('post', '/factories/{factory}/deliveries/{delivery}/replay', {
      factory,
      delivery: delivery.id,
      body: automation === '' ? {} : { automation },
    });
    announce(`Started ${formatCount(runs.length, 'run')}`);
    onReplayed();
    onClose();
  };
  return (
    <FormDialog title="Replay the delivery?" action="Start runs" onSubmit={replay} onClose={onClose}>
      <p>Starts new runs from the stored payload, with the automations as they are now.</p>
      <Field label="Automation">
        {ids => (
          <select {...ids} value={automation} onChange={event => setAutomation(event.currentTarget.value)}>
            <option value="">All that match</option>
            {listening.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
