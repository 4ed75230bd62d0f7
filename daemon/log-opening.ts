import { EventEmitter } from 'node:events';
import type { DeliveryLog, LoggedDelivery } from '../store/ports/delivery-log.ts';
import type { Store } from '../store/ports/store.ts';

export interface LogEvents {
  queued: [];
  claimsLost: [];
  committed: [rows: () => readonly LoggedDelivery[]];
}

/** A delivery log that is being opened, and what it tells afterwards. */
export interface LogOpening {
  readonly opened: Promise<DeliveryLog>;
  readonly events: EventEmitter<LogEvents>;
  /** Resolves when nothing more can be recorded. */
  readonly failed: Promise<Error>;
  /** Closes the log, unless it could not be opened. */
  close(): Promise<void>;
}

/** Begins to open the delivery log: its thread starts while the rest of the daemon is loaded. */
export function beginOpening(store: Pick<Store, 'openDeliveryLog'>): LogOpening {
  const events = new EventEmitter<LogEvents>();
  const failure = Promise.withResolvers<Error>();
  const opened = store.openDeliveryLog({
    onRunsQueued: () => events.emit('queued'),
    onClaimsLost: () => events.emit('claimsLost'),
    onCommitted: rows => events.emit('committed', rows),
    onFatal: failure.resolve,
  });
  const closed = () => opened.then(log => log.close());
  // Whoever starts the daemon awaits it, and may do so late.
  opened.catch(() => undefined);
  return { opened, events, failed: failure.promise, close: () => closed().catch(() => undefined) };
}
