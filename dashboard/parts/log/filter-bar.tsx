import { outcomes, runStates } from '../../../schema/delivery.ts';
import { callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import type { LogFilterName, LogFilters } from '../../state/log-filters.ts';
import { TimeRange } from './time-range.tsx';

interface Properties {
  readonly filters: LogFilters;
  /** The filters that are offered beside the time range. */
  readonly offered: readonly LogFilterName[];
  /** Sets filters; an empty value removes one. */
  readonly onChange: (changed: Readonly<Partial<Record<LogFilterName, string>>>) => void;
}

const labels = {
  outcome: 'Outcome',
  state: 'Run state',
  search: 'Search payloads',
  event: 'Event type',
  webhook: 'Webhook',
  automation: 'Automation',
} as const;

/** Chooses which rows a list shows. Filters that are rarely needed are folded away. */
export function FilterBar({ filters, offered, onChange }: Properties) {
  const render = (name: keyof typeof labels) =>
    offered.includes(name) && (
      <Filter
        key={name}
        name={name}
        value={filters[name] ?? ''}
        onChange={value => onChange({ [name]: value })}
      />
    );
  const isAnySet = Object.keys(filters).length > 0;
  const rare = (['event', 'webhook', 'automation'] as const).filter(name => offered.includes(name));
  return (
    <search class="filters">
      <TimeRange filters={filters} onChange={onChange} />
      {render('outcome')}
      {render('state')}
      {render('search')}
      <details open={rare.some(name => filters[name] !== undefined)}>
        <summary>More filters</summary>
        <div class="filters">{rare.map(render)}</div>
      </details>
      {isAnySet && (
        <button
          type="button"
          class="btn quiet"
          onClick={() => onChange(Object.fromEntries(Object.keys(filters).map(name => [name, ''])))}
        >
          Clear filters
        </button>
      )}
    </search>
  );
}

interface FilterProperties {
  readonly name: keyof typeof labels;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Filter({ name, value, onChange }: FilterProperties) {
  switch (name) {
    case 'outcome':
      return <Choice {...{ name, value, onChange }} all="All outcomes" values={outcomes} />;
    case 'state':
      return <Choice {...{ name, value, onChange }} all="Any run state" values={runStates} />;
    case 'webhook':
    case 'automation':
      return <NamedChoice {...{ name, value, onChange }} />;
    case 'search':
    case 'event':
      return (
        <input
          type="search"
          aria-label={labels[name]}
          placeholder={labels[name]}
          autocomplete="off"
          spellcheck={false}
          maxLength={256}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
        />
      );
  }
}

/** The webhooks or automations of the factory, by name. */
function NamedChoice({ name, value, onChange }: FilterProperties) {
  const { factory } = useFactory();
  const known = useLoad(
    async signal => {
      if (name === 'webhook') {
        const { webhooks } = await callApi('get', '/factories/{factory}/webhooks', { factory, signal });
        return webhooks.map(webhook => webhook.name);
      }
      const { automations } = await callApi('get', '/factories/{factory}/automations', { factory, signal });
      return automations.map(automation => automation.name);
    },
    [factory, name],
  );
  const all = name === 'webhook' ? 'All webhooks' : 'All automations';
  return <Choice {...{ name, value, onChange, all }} values={known.value ?? []} />;
}

interface ChoiceProperties extends FilterProperties {
  /** Says that nothing is chosen. */
  readonly all: string;
  readonly values: readonly string[];
}

function Choice({ name, value, all, values, onChange }: ChoiceProperties) {
  // A link may name something that was deleted.
  const listed = value === '' || values.includes(value) ? values : [value, ...values];
  return (
    <select aria-label={labels[name]} value={value} onChange={event => onChange(event.currentTarget.value)}>
      <option value="">{all}</option>
      {listed.map(each => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}
