import { runStates } from '../../../schema/delivery.ts';
import { callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import type { LogFilterName, LogFilters } from '../../state/log-filters.ts';
import { timeZone } from '../../state/time.ts';
import { usePopup } from '../../state/use-popup.ts';
import { formatHours, formatTimeInput, parseTimeInput } from '../../text/format-time.ts';
import { ChoiceChip } from '../chips.tsx';
import { Icon } from '../icons.tsx';

type ChipName = 'time' | 'webhook' | 'event' | 'automation' | 'state' | 'outcome';

/** Sets filters; an empty value removes one. */
export type ChangeFilters = (changed: Readonly<Partial<Record<LogFilterName, string>>>) => void;

interface Properties {
  readonly filters: LogFilters;
  readonly offered: readonly ChipName[];
  /** The types of events to choose from; others can be typed. */
  readonly events?: readonly string[];
  readonly onChange: ChangeFilters;
}

/** The chips that choose which rows a list shows: a chip for each filter that is offered, in that order. */
export function LogChips({ filters, offered, events = [], onChange }: Properties) {
  const known = useNames(offered);
  const choose = (name: LogFilterName) => ({
    value: filters[name] ?? '',
    onChoose: (value: string) => onChange({ [name]: value }),
  });
  return (
    <>
      {offered.map(name => {
        switch (name) {
          case 'time':
            return <TimeChip key={name} filters={filters} onChange={onChange} />;
          case 'event':
            return (
              <ChoiceChip
                key={name}
                label="Event"
                none="All events"
                isOpen
                options={toOptions(events)}
                {...choose(name)}
              />
            );
          case 'state':
            return (
              <ChoiceChip
                key={name}
                label="Run state"
                none="Any run state"
                options={toOptions(runStates)}
                {...choose(name)}
              />
            );
          case 'outcome':
            // It is set by links of other pages only.
            return (
              <ChoiceChip key={name} label="Outcome" none="All outcomes" options={[]} {...choose(name)} />
            );
          default:
            return (
              <ChoiceChip
                key={name}
                label={name === 'webhook' ? 'Webhook' : 'Automation'}
                none={name === 'webhook' ? 'All webhooks' : 'All automations'}
                options={known?.[name] ?? []}
                {...choose(name)}
              />
            );
        }
      })}
    </>
  );
}

function toOptions(values: readonly string[]) {
  return values.map(value => ({ value, label: value }));
}

/** The webhooks and the automations of the factory, by name, if they are offered. */
function useNames(offered: readonly ChipName[]) {
  const { factory } = useFactory();
  const { value } = useLoad(
    async signal => {
      const read = { factory, signal };
      const [webhooks, automations] = await Promise.all([
        offered.includes('webhook')
          ? callApi('get', '/factories/{factory}/webhooks', read)
          : { webhooks: [] },
        offered.includes('automation')
          ? callApi('get', '/factories/{factory}/automations', read)
          : { automations: [] },
      ]);
      return {
        webhook: toOptions(webhooks.webhooks.map(({ name }) => name)),
        automation: toOptions(automations.automations.map(({ name }) => name)),
      };
    },
    [factory],
  );
  return value;
}

const durations = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
] as const;

interface TimeProperties {
  readonly filters: LogFilters;
  readonly onChange: ChangeFilters;
}

/** Chooses a time up to now, or from a time to another one. */
function TimeChip({ filters: { since = '', until = '' }, onChange }: TimeProperties) {
  const { open, close, button, popup } = usePopup();
  const isSet = since !== '' || until !== '';
  const label = describeRange(since, until);
  return (
    <>
      <button
        type="button"
        class={`chip ${isSet ? 'on' : ''}`}
        aria-haspopup="dialog"
        aria-label={`Time: ${label}`}
        {...button}
      >
        {label}
        <Icon name="down" />
      </button>
      {open && (
        <div class="menu" role="dialog" aria-label="Time" {...popup}>
          <div class="menu-entries">
            {durations.map(([duration, text]) => (
              <button
                key={duration}
                type="button"
                data-item
                aria-pressed={since === duration && until === ''}
                onClick={() => {
                  close();
                  onChange({ since: duration, until: '' });
                }}
              >
                {text}
              </button>
            ))}
            <hr />
          </div>
          <TimeField label="From" value={since} onChange={at => onChange({ since: at })} />
          <TimeField label="To" value={until} onChange={at => onChange({ until: at })} />
        </div>
      )}
    </>
  );
}

function describeRange(since: string, until: string): string {
  const known = until === '' ? durations.find(([duration]) => duration === since) : undefined;
  if (known) return known[1];
  if (until === '' && !since.endsWith('Z')) return `Last ${since}`;
  const zone = timeZone.value;
  if (since.endsWith('Z') && until !== '') return formatHours(Date.parse(since), Date.parse(until), zone);
  const at = (text: string) => formatHours(Date.parse(text), Date.parse(text), zone);
  return until === '' ? `Since ${at(since)}` : `Until ${at(until)}`;
}

interface FieldProperties {
  readonly label: string;
  /** An ISO time, a duration or empty. */
  readonly value: string;
  readonly onChange: (at: string) => void;
}

function TimeField({ label, value, onChange }: FieldProperties) {
  const zone = timeZone.value;
  return (
    <label class="time-field">
      <span class="t3 small">{label}</span>
      <input
        class="input"
        type="datetime-local"
        title={zone === 'utc' ? 'In UTC' : 'In local time'}
        value={value.endsWith('Z') ? formatTimeInput(value, zone) : ''}
        onChange={event => onChange(parseTimeInput(event.currentTarget.value, zone))}
      />
    </label>
  );
}
