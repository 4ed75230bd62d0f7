import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { runStates } from '../../../schema/delivery.ts';
import { callApi } from '../../api-client.ts';
import type { ListedDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import type { LogFilters } from '../../state/log-filters.ts';
import type { RowsPosition } from '../../state/row-list.ts';
import { AutomationChoice } from '../automation-choice.tsx';
import { OutcomePill, RunStatePill } from '../pills.tsx';
import { RowSummary } from '../row-summary.tsx';
import { Size, Text } from '../text.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import { type LogKind, LogList } from './log-list.tsx';

const deliveryKind: Omit<LogKind<ListedDelivery>, 'renderDetail'> = {
  what: 'deliveries',
  filters: ['outcome', 'state', 'search', 'event', 'webhook', 'automation'],
  read: (factory, query, signal) => readDeliveries(factory, { ...query, summary: 'true' }, signal),
  mayChange: ({ summary }) => ((summary?.runs.queued ?? 0) || (summary?.runs.running ?? 0)) > 0,
  timeOf: ({ at }) => at,
  renderSummary: (delivery, fixed) => <DeliverySummary delivery={delivery} fixed={fixed} />,
  bulk: [
    {
      action: 'Replay all…',
      narrow: filters =>
        (filters.outcome ?? 'Accepted') === 'Accepted' ? { ...filters, outcome: 'Accepted' } : undefined,
      render: (filters, onClose) => <BulkReplay filters={filters} onClose={onClose} />,
    },
  ],
};

type Query = LogFilters & RowsPosition & { readonly summary?: 'true' };

async function readDeliveries(factory: string, query: Query, signal: AbortSignal | undefined) {
  const { deliveries, ...end } = await callApi('get', '/factories/{factory}/deliveries', {
    factory,
    query,
    signal,
  });
  return { rows: deliveries, ...end };
}

interface BulkProperties {
  readonly filters: LogFilters;
  readonly onClose: () => void;
}

function BulkReplay({ filters, onClose }: BulkProperties) {
  const { factory } = useFactory();
  const [automation, setAutomation] = useState('');
  const path = '/factories/{factory}/deliveries/{delivery}/replay';
  const body = automation === '' ? {} : { automation };
  return (
    <BulkDialog
      words={{ verb: 'Replay', done: 'replayed', one: 'delivery', many: 'deliveries' }}
      read={(position, signal) => readDeliveries(factory, { ...filters, ...position }, signal)}
      act={delivery => callApi('post', path, { factory, delivery, body })}
      onClose={onClose}
    >
      <p>
        Starts new runs from the stored payloads, oldest first, with the automations as they are now. Keep the
        page open until it is done.
      </p>
      <AutomationChoice webhook={filters.webhook} value={automation} onChange={setAutomation} />
    </BulkDialog>
  );
}

interface Properties {
  readonly title: string;
  readonly fixed?: LogFilters;
  /** Renders a delivery that the user opens. */
  readonly renderDelivery: (id: string) => ComponentChildren;
}

/** The deliveries of a factory, or of one of its webhooks. */
export function DeliveryList({ renderDelivery, ...properties }: Properties) {
  return (
    <LogList
      kind={{ ...deliveryKind, renderDetail: ({ id }) => renderDelivery(id) }}
      empty="Deliveries appear here as they arrive, whether accepted or rejected."
      {...properties}
    />
  );
}

interface SummaryProperties {
  readonly delivery: ListedDelivery;
  readonly fixed: LogFilters;
}

function DeliverySummary({ delivery, fixed }: SummaryProperties) {
  const { id, webhook, outcome, reason, eventType, size, at, summary } = delivery;
  const note = reason ?? eventType;
  return (
    <RowSummary
      pill={<OutcomePill outcome={outcome} />}
      id={id}
      source={fixed.webhook === undefined ? webhook : undefined}
      note={note}
      preview={summary?.preview && <Text text={summary.preview} />}
      runs={summary && outcome === 'Accepted' && <RunCounts runs={summary.runs} />}
      size={<Size bytes={size} />}
      at={at}
    />
  );
}

function RunCounts({ runs }: Pick<NonNullable<ListedDelivery['summary']>, 'runs'>) {
  const states = runStates.filter(state => (runs[state] ?? 0) > 0);
  if (states.length === 0) return <span class="t3">no run</span>;
  return states.map(state => <RunStatePill key={state} state={state} count={runs[state]} />);
}
