import { callApi } from '../api-client.ts';
import { useFactory } from '../state/current-factory.ts';
import { useLoad } from '../state/loading.ts';
import { Field } from './fields.tsx';

interface Properties {
  /** Name or UID of the webhook whose automations are offered; undefined for all. */
  readonly webhook: string | undefined;
  /** Empty for all. */
  readonly value: string;
  readonly onChange: (automation: string) => void;
}

/** Chooses which automation gets new runs: all that match, or only one of those that listen now. */
export function AutomationChoice({ webhook, value, onChange }: Properties) {
  const { factory } = useFactory();
  const { value: known } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  const listening = known?.automations.filter(({ triggers }) =>
    triggers.some(trigger => webhook === undefined || [trigger.uid, trigger.webhook].includes(webhook)),
  );
  return (
    <Field label="Automation">
      {ids => (
        <select {...ids} value={value} onChange={event => onChange(event.currentTarget.value)}>
          <option value="">All that match</option>
          {listening?.map(({ name, enabled }) => (
            <option key={name} value={name} disabled={!enabled}>
              {name}
              {!enabled && ' (disabled)'}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
