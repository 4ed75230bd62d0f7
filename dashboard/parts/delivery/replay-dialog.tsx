import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { DeliveryDetail } from '../../api-types.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { counted } from '../../text/format-count.ts';
import { Confirm } from '../confirm-dialog.tsx';
import { Field } from '../field.tsx';

interface Properties {
  readonly delivery: DeliveryDetail;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

/** Starts new runs from a stored payload. */
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
    announce(`Started ${counted(runs.length, 'run')}`);
    onReplayed();
    onClose();
  };
  return (
    <Confirm title="Replay the delivery?" action="Start runs" onConfirm={replay} onClose={onClose}>
      <p>New runs start from the stored payload, under the automations as they are now.</p>
      <Field label="Automation">
        {ids => (
          <select {...ids} value={automation} onChange={event => setAutomation(event.currentTarget.value)}>
            <option value="">Every one that matches</option>
            {listening.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
    </Confirm>
  );
}
