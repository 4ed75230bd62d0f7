import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { formatCount } from '../../text/format-count.ts';
import { AutomationChoice } from '../automation-choice.tsx';
import { FormDialog } from '../dialog-form.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

export function ReplayDialog({ delivery, onReplayed, onClose }: Properties) {
  const { factory } = useFactory();
  const [automation, setAutomation] = useState('');
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
      <AutomationChoice webhook={delivery.uid} value={automation} onChange={setAutomation} />
    </FormDialog>
  );
}
