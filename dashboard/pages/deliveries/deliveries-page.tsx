import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ListedDelivery } from '../../api-answers.ts';
import { Key } from '../../parts/controls.tsx';
import { DeliveryPane } from '../../parts/delivery/delivery-detail.tsx';
import {
  ExceptionsChip,
  listChips,
  NoDeliveries,
  replayAll,
  useDeliveryKind,
} from '../../parts/log/delivery-list.tsx';
import { LogChips } from '../../parts/log/log-chips.tsx';
import { BarTitle, BulkButton, LiveSign, LogSearch, useLogFilters } from '../../parts/log/log-controls.tsx';
import { LogList, useLog } from '../../parts/log/log-list.tsx';
import { useWindowTitle } from '../../parts/page-heading.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, readQuery } from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import type { FactoryLocation } from '../../state/page-location.ts';

/**
 * The deliveries to all webhooks of the factory, and beside them the one that the address names. In a narrow window it takes
 * the place of the list, which stays as it is.
 */
export function DeliveriesPage({ id }: { readonly id?: string }) {
  const { factory } = useFactory();
  const kind = useDeliveryKind();
  const { chosen, filters, change, clear, isFiltered } = useLogFilters();
  const log = useLog(kind, filters, id !== undefined);
  const list: FactoryLocation = { page: 'deliveries', factory, query: readQuery() };
  const close = () => goTo(list);
  useWindowTitle('Deliveries');
  useKeys({ Escape: () => (id === undefined ? change({ search: '' }) : close()) });
  useKeptPlace(id !== undefined);
  return (
    <div class={`log ${id === undefined ? '' : 'is-open'}`}>
      <div class="bar">
        <BarTitle title="Deliveries" isQuiet={id !== undefined} />
        <LiveSign log={log} />
        <div class="filters">
          <LogChips
            filters={chosen}
            offered={listChips(chosen, ['time', 'webhook', 'event', 'automation', 'state'])}
            events={listEvents(log.segments)}
            onChange={change}
          />
          <ExceptionsChip filters={filters} onChange={change} />
        </div>
        <span class="push keys t3 small flow" aria-hidden="true">
          <Key>j</Key>
          <Key>k</Key> move
        </span>
        <LogSearch value={chosen.search ?? ''} onChange={search => change({ search })} />
        <BulkButton bulk={replayAll} filters={filters} onDone={log.refresh} />
      </div>
      <div class="panes">
        <section class="pane" aria-label="Deliveries, newest first">
          <LogList
            kind={kind}
            log={log}
            current={id}
            locationOf={row => ({ ...list, page: 'delivery', id: row.id })}
            empty={<NoDeliveries kind={kind} isFiltered={isFiltered} onClear={clear} />}
          />
        </section>
        {id !== undefined && (
          <section class="pane" aria-label="Delivery">
            <DeliveryPane id={id} list={list} onSearch={search => change({ search })} />
          </section>
        )}
      </div>
    </div>
  );
}

/** The types of the events that were loaded. */
function listEvents(segments: readonly { readonly rows: readonly ListedDelivery[] }[] = []): string[] {
  const events = segments.flatMap(({ rows }) => rows.flatMap(({ eventType }) => eventType ?? []));
  return [...new Set(events)].sort();
}

/** Where the page scrolls as a whole, on phones, the list is again where it was after a delivery is closed. */
function useKeptPlace(isOpen: boolean): void {
  const known = useRef({ isOpen, top: 0 });
  // The page still shows what it showed before.
  if (isOpen && !known.current.isOpen) known.current.top = scrollY;
  known.current.isOpen = isOpen;
  useLayoutEffect(() => scrollTo({ top: isOpen ? 0 : known.current.top }), [isOpen]);
}
