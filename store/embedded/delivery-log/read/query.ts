import type { DeliveryLogReader } from '../../../ports/delivery-log.ts';

export type QueryVerb = keyof DeliveryLogReader;

/** Answers a question by its verb, with the arguments that the reader's method of that name takes. */
export type Ask = (verb: QueryVerb, given: readonly unknown[]) => Promise<unknown>;

export interface ClosableReader extends DeliveryLogReader {
  close(): Promise<void>;
}

/** A reader whose methods pass their arguments to `ask`. */
export function makeReader(ask: Ask): DeliveryLogReader {
  const verb =
    <V extends QueryVerb>(name: V) =>
    (...given: Parameters<DeliveryLogReader[V]>) =>
      ask(name, given) as ReturnType<DeliveryLogReader[V]>;
  return {
    listDeliveries: verb('listDeliveries'),
    searchDeliveries: verb('searchDeliveries'),
    findDelivery: verb('findDelivery'),
    summarizeDeliveries: verb('summarizeDeliveries'),
    countAccepted: verb('countAccepted'),
    listAcceptedEvents: verb('listAcceptedEvents'),
    countByHour: verb('countByHour'),
    readPayload: verb('readPayload'),
    readContent: verb('readContent'),
    listRuns: verb('listRuns'),
    searchRuns: verb('searchRuns'),
    findLast: verb('findLast'),
    findRun: verb('findRun'),
    listRunsOfDelivery: verb('listRunsOfDelivery'),
    listRunDeliveries: verb('listRunDeliveries'),
    countUnfinishedRuns: verb('countUnfinishedRuns'),
    listPauses: verb('listPauses'),
    listOverdueRuns: verb('listOverdueRuns'),
    listUnapprovedRuns: verb('listUnapprovedRuns'),
    listEndsToTell: verb('listEndsToTell'),
    listFailedAutomations: verb('listFailedAutomations'),
    findHoldingRun: verb('findHoldingRun'),
    readSnapshot: verb('readSnapshot'),
    sumUnlogged: verb('sumUnlogged'),
    readNextTallies: verb('readNextTallies'),
    readHistory: verb('readHistory'),
    listDueHealth: verb('listDueHealth'),
    readRunTallies: verb('readRunTallies'),
    countHealth: verb('countHealth'),
  };
}
