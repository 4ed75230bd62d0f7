import type { ComponentProps } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { apiPageMax } from '../../../schema/api/conventions.ts';
import { runStates } from '../../../schema/delivery.ts';
import type { ListedDelivery } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad, usePolled } from '../../state/loading.ts';
import { exceptions, type LogFilters, toApiFilters } from '../../state/log-filters.ts';
import type { FactoryLocation } from '../../state/page-location.ts';
import type { RowsPosition } from '../../state/row-list.ts';
import { formatSize } from '../../text/format-values.ts';
import { lookOfRun, signOfOutcome } from '../../text/looks.ts';
import { ToggleChip } from '../chips.tsx';
import { AutomationChoice } from '../delivery/delivery-actions.tsx';
import { Monogram, schemeOf } from '../monogram.tsx';
import { Sign, toneOf } from '../signs.tsx';
import { ClockTime, Text } from '../text.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import { type ChangeFilters, LogChips } from './log-chips.tsx';
import { type BulkAction, BulkButton, LiveSign, LogSearch, useLogFilters } from './log-controls.tsx';
import { type LogKind, LogList, NoRows, useLog } from './log-list.tsx';

type Query = LogFilters & RowsPosition & { readonly summary?: 'true' };
type Schemes = ReadonlyMap<string, string | null>;

async function readDeliveries(factory: string, query: Query, signal: AbortSignal | undefined) {
  const { deliveries, ...end } = await callApi('get', '/factories/{factory}/deliveries', {
    factory,
    query,
    signal,
  });
  return { rows: deliveries, ...end };
}

/** Deliveries in a list. Webhooks are drawn by the scheme that they have now; the list of one webhook does not draw it. */
export function useDeliveryKind(isOfOne = false): LogKind<ListedDelivery> {
  const { factory } = useFactory();
  const { value } = useLoad(
    async signal =>
      isOfOne ? undefined : callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
    [factory],
  );
  return useMemo(() => {
    const schemes: Schemes = new Map(value?.webhooks.map(webhook => [webhook.uid, schemeOf(webhook)]));
    return {
      what: 'deliveries',
      read: (factory, query, signal) => readDeliveries(factory, { ...query, summary: 'true' }, signal),
      mayChange: ({ summary }) => ((summary?.runs.queued ?? 0) || (summary?.runs.running ?? 0)) > 0,
      timeOf: ({ at }) => at,
      look: 'd',
      renderCells: delivery => <DeliveryCells delivery={delivery} schemes={schemes} />,
      foldOf: ({ uid, outcome, summary }) =>
        outcome.startsWith('Rejected') ? `${uid} ${outcome} ${summary?.title}` : undefined,
    };
  }, [value]);
}

/** Replays what the filters choose; only accepted deliveries have a payload. */
export const replayAll: BulkAction = {
  action: 'Replay these…',
  narrow: filters =>
    (filters.outcome ?? 'Accepted').split(',').includes('Accepted')
      ? { ...filters, outcome: 'Accepted' }
      : undefined,
  render: (filters, onClose) => <BulkReplay filters={filters} onClose={onClose} />,
};

function BulkReplay({ filters, onClose }: { readonly filters: LogFilters; readonly onClose: () => void }) {
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

interface ExceptionsProperties {
  readonly filters: LogFilters;
  readonly onChange: ChangeFilters;
}

const countedEveryMs = 15_000;

/** Leaves only duplicates and rejected requests, and says how many there are. It does not count while payloads are searched. */
export function ExceptionsChip({ filters, onChange }: ExceptionsProperties) {
  const { factory } = useFactory();
  const { outcome, ...others } = filters;
  const { value } = usePolled(
    async signal => {
      if (others.search !== undefined) return undefined;
      const query = { ...toApiFilters(others, Date.now()), outcome: exceptions, limit: apiPageMax };
      const { rows, hasMore } = await readDeliveries(factory, query, signal);
      return hasMore ? `${apiPageMax}+` : String(rows.length);
    },
    [factory, JSON.stringify(others)],
    countedEveryMs,
  );
  return (
    <ToggleChip
      label="Exceptions"
      tone="bad"
      on={outcome === exceptions}
      count={value}
      onToggle={on => onChange({ outcome: on ? exceptions : '' })}
    />
  );
}

interface Properties {
  /** The filters that the page implies: those of a webhook. */
  readonly fixed: LogFilters;
}

/** The deliveries of a webhook, with their filters, as a part of its page. Each leads to the delivery. */
export function DeliveryList({ fixed }: Properties) {
  const { factory } = useFactory();
  const kind = useDeliveryKind(true);
  const { chosen, filters, change, clear, isFiltered } = useLogFilters(fixed);
  const log = useLog(kind, filters);
  return (
    <>
      <div class="filters">
        <LiveSign log={log} />
        <LogChips filters={chosen} offered={listChips(chosen, ['time', 'event'])} onChange={change} />
        <ExceptionsChip filters={filters} onChange={change} />
        <span class="push" />
        <LogSearch value={chosen.search ?? ''} onChange={search => change({ search })} />
        <BulkButton bulk={replayAll} filters={filters} onDone={log.refresh} />
      </div>
      <div class="own">
        <LogList
          kind={kind}
          log={log}
          locationOf={({ id }): FactoryLocation => ({ page: 'delivery', factory, id })}
          empty={<NoDeliveries kind={kind} isFiltered={isFiltered} onClear={clear} />}
        />
      </div>
    </>
  );
}

/** The chips of a list of deliveries: an outcome of a link can be dropped. */
export function listChips(
  { outcome, state }: LogFilters,
  offered: readonly ('time' | 'webhook' | 'event' | 'automation' | 'state')[],
) {
  return [
    ...offered,
    ...(state !== undefined && !offered.includes('state') ? (['state'] as const) : []),
    ...(outcome !== undefined && outcome !== exceptions ? (['outcome'] as const) : []),
  ];
}

type NoneProperties = Omit<ComponentProps<typeof NoRows<ListedDelivery>>, 'children'>;

export function NoDeliveries(properties: NoneProperties) {
  return (
    <NoRows {...properties}>Deliveries appear here as they arrive, whether accepted or rejected.</NoRows>
  );
}

interface CellsProperties {
  readonly delivery: ListedDelivery;
  readonly schemes: Schemes;
}

function DeliveryCells({ delivery, schemes }: CellsProperties) {
  const { uid, webhook, outcome, size, at, summary } = delivery;
  const scheme = schemes.get(uid) ?? summary?.scheme ?? null;
  const isRejected = outcome.startsWith('Rejected');
  const texts = [summary?.text, isRejected && formatSize(size)].filter(Boolean);
  return (
    <>
      <Sign name={signOfOutcome(outcome)} label={outcome} />
      <span class="hook">
        <Monogram scheme={scheme} name={webhook} />
        <Text class="cut" text={webhook} />
      </span>
      <span class="what">
        <Text class="title nowrap" text={summary?.title ?? outcome} />
        <Text class="sum cut" text={texts.join(' · ')} />
      </span>
      <BecameOf delivery={delivery} isRejected={isRejected} />
      <ClockTime at={at} />
    </>
  );
}

/** What became of a delivery, in a word unless its runs plainly succeeded. */
function BecameOf({
  delivery: { outcome, summary },
  isRejected,
}: {
  readonly delivery: ListedDelivery;
  readonly isRejected: boolean;
}) {
  if (isRejected) return <span class="runs small bad no-phone">rejected</span>;
  if (outcome === 'Duplicate') return <span class="runs small warn no-phone">duplicate</span>;
  const runs = summary?.runs ?? {};
  const worst = (['failed', 'running', 'queued', 'cancelled', 'succeeded'] as const).find(
    state => (runs[state] ?? 0) > 0,
  );
  if (!worst) return <span class="runs" />;
  const total = runStates.reduce((sum, state) => sum + (runs[state] ?? 0), 0);
  const [sign, word] = lookOfRun({ state: worst });
  const count = total > 1 ? `${runs[worst]} ` : '';
  return (
    <span class={`runs state ${toneOf(sign)}`} title={`${runs[worst]} of ${total} runs ${word}`}>
      <Sign name={sign} label={worst === 'succeeded' ? 'succeeded' : word} />
      {worst !== 'succeeded' && (
        <span class="small no-phone" aria-hidden="true">
          {count}
          {word}
        </span>
      )}
    </span>
  );
}
