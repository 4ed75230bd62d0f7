import { dayMs } from '../../../schema/time-units.ts';
import type { LogFilterName, LogFilters } from '../../state/log-filters.ts';
import { timeZone } from '../../state/time-zone.ts';
import { formatTimeInput, parseTimeInput } from '../../text/format-time.ts';

interface Properties {
  readonly filters: LogFilters;
  readonly onChange: (changed: Readonly<Partial<Record<LogFilterName, string>>>) => void;
}

const durations = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
] as const;
const custom = 'custom';

/** Chooses a time up to now, or from a time to another one. */
export function TimeRange({ filters: { since = '', until = '' }, onChange }: Properties) {
  const isDuration = until === '' && /^\d+[mhd]$/.test(since);
  const chosen = since === '' && until === '' ? '' : isDuration ? since : custom;
  const listed = durations.some(([duration]) => duration === since);
  const choose = (value: string) => {
    const from = value === custom ? new Date(Date.now() - dayMs).toISOString() : value;
    onChange({ since: from, until: '' });
  };
  return (
    <>
      <select aria-label="Time range" value={chosen} onChange={event => choose(event.currentTarget.value)}>
        <option value="">All times</option>
        {isDuration && !listed && <option value={since}>Last {since}</option>}
        {durations.map(([duration, label]) => (
          <option key={duration} value={duration}>
            {label}
          </option>
        ))}
        <option value={custom}>From … to …</option>
      </select>
      {chosen === custom && (
        <>
          <TimeField label="From" value={since} onChange={at => onChange({ since: at })} />
          <TimeField label="To" value={until} onChange={at => onChange({ until: at })} />
        </>
      )}
    </>
  );
}

interface FieldProperties {
  readonly label: string;
  /** An ISO time, or empty. */
  readonly value: string;
  readonly onChange: (at: string) => void;
}

function TimeField({ label, value, onChange }: FieldProperties) {
  const zone = timeZone.value;
  return (
    <label class="together">
      {label}{' '}
      <input
        type="datetime-local"
        title={zone === 'utc' ? 'In UTC' : 'In local time'}
        value={value === '' ? '' : formatTimeInput(value, zone)}
        onChange={event => onChange(parseTimeInput(event.currentTarget.value, zone))}
      />
    </label>
  );
}
