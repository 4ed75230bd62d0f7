import type { DeliveryLogReader } from '../../../delivery-log.ts';
import { openSqliteReader, type SqliteReader } from './reader.ts';

/** A reader that answers on the calling thread: for commands, which have nothing else to do. It opens the file with its first question. */
export function openProcessReader(file: string): DeliveryLogReader & { close(): Promise<void> } {
  let reader: SqliteReader | undefined;
  const open = () => {
    reader ??= openSqliteReader(file);
    return reader;
  };
  return {
    listDeliveries: async filter => open().listDeliveries(filter),
    findDelivery: async id => open().findDelivery(id),
    countAccepted: async (uid, sinceMs) => open().countAccepted(uid, sinceMs),
    countByHour: async (uid, sinceMs) => open().countByHour(uid, sinceMs),
    readPayload: async deliveryId => open().readPayload(deliveryId),
    listRuns: async filter => open().listRuns(filter),
    findRun: async id => open().findRun(id),
    runsOfDelivery: async deliveryId => open().runsOfDelivery(deliveryId),
    readSnapshot: async digest => open().readSnapshot(digest),
    close: async () => reader?.close(),
  };
}
