import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { callThread, ThreadEnded } from '../../../call-thread.ts';
import type { DeliveryLogReader } from '../../../ports/delivery-log.ts';
import { closedError, DeliveryLogError } from '../../../ports/store-error.ts';
import { type Ask, type ClosableReader, makeReader } from './query.ts';
import { answerQuery, openSqliteReader, type SqliteReader } from './reader.ts';

/** @limit Most queries of the delivery log that wait for their thread: each takes a few ms, so the last is still answered in time. */
const queriesWaitingMax = 256;

/**
 * A reader that answers in its own thread, one question after the other, so a slow question delays only other ones.
 * The thread starts with the first question. If it dies, the next question starts it again.
 */
export function openThreadReader(file: string): ClosableReader {
  // Sources run as .ts, the build as .js.
  const script = new URL(`./delivery-log-query-worker${extname(import.meta.url)}`, import.meta.url);
  const thread = callThread<DeliveryLogReader>(() => new Worker(script, { workerData: { file } }));
  let waiting = 0;
  let isClosed = false;
  const ask: Ask = async (verb, given) => {
    if (isClosed) throw closedError();
    if (waiting >= queriesWaitingMax)
      throw new DeliveryLogError('full', 'too many queries of the delivery log are waiting; try again');
    waiting++;
    try {
      return await thread.call(verb, given as never);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      throw new DeliveryLogError('failed', 'the query thread died', { cause: error.cause ?? error });
    } finally {
      waiting--;
    }
  };
  return {
    ...makeReader(ask),
    close: () => {
      isClosed = true;
      return thread.end();
    },
  };
}

/** A reader that answers on the calling thread, for commands. It opens the file with the first question. */
export function openProcessReader(file: string): ClosableReader {
  let reader: SqliteReader | undefined;
  let isClosed = false;
  const ask: Ask = async (verb, given) => {
    if (isClosed) throw closedError();
    try {
      reader ??= openSqliteReader(file);
      return answerQuery(reader, verb, given);
    } catch (cause) {
      if (cause instanceof DeliveryLogError) throw cause;
      throw new DeliveryLogError('failed', cause instanceof Error ? cause.message : String(cause), { cause });
    }
  };
  return {
    ...makeReader(ask),
    close: async () => {
      isClosed = true;
      reader?.close();
    },
  };
}
