import { callApi } from '../api-client.ts';
import { useFactory } from '../state/current-factory.ts';
import { useLoad } from '../state/loading.ts';
import { ChoiceChip } from './chips.tsx';

interface Properties {
  /** Name or UID of the webhook whose automations are offered; undefined for all. */
  readonly webhook: string | undefined;
  /** Empty for all. */
  readonly value: string;
  readonly onChange: (automation: string) => void;
}

/** Chooses which automation gets new runs: all that match, or only one of those that listen now and are enabled. */
export function AutomationChoice({ webhook, value, onChange }: Properties) {
  const { factory } = useFactory();
  const { value: known } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  const listening = known?.automations.filter(
    ({ enabled, triggers }) =>
      enabled &&
      triggers.some(trigger => webhook === undefined || [trigger.uid, trigger.webhook].includes(webhook)),
  );
  return (
    <p class="flow">
      <span class="label">Automation</span>
      <ChoiceChip
        label="Automation"
        value={value}
        onChoose={onChange}
        options={[
          { value: '', label: 'All that match' },
          ...(listening ?? []).map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </p>
  );
}
