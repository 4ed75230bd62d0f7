import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { closedError, DeliveryLogError } from '../../../ports/store-error.ts';
import {
  type Ask,
  type ClosableReader,
  makeReader,
  type Query,
  type QueryAnswer,
  type QueryVerb,
  toQueryError,
} from './query.ts';
import { answerQuery, openSqliteReader, type SqliteReader } from './reader.ts';

/** @limit Most queries of the delivery log that wait for their thread: each takes a few ms, so the last is still answered in time. */
const queriesWaitingMax = 256;

/**
 * A reader that answers in its own thread, one question after the other, so a slow question delays only other ones.
 * The thread starts with the first question. If it dies, the next question starts it again.
 */
export function openThreadReader(file: string): ClosableReader {
  const thread = new QueryThread(file);
  return {
    ...makeReader((verb, given) => thread.ask(verb, given)),
    close: () => thread.close(),
  };
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: DeliveryLogError) => void;
}

class QueryThread {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  ask(verb: QueryVerb, given: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closedError());
      if (this.#waiting.size >= queriesWaitingMax) {
        return reject(
          new DeliveryLogError('full', 'too many queries of the delivery log are waiting; try again'),
        );
      }
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, verb, arguments: given } satisfies Query);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    const ended = once(worker, 'exit');
    worker.postMessage('close');
    await ended;
  }

  #start(): Worker {
    // Sources run as .ts, the build as .js.
    const script = new URL(`./delivery-log-query-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(script, { workerData: { file: this.#file } });
    let died: unknown = new Error('the query thread died');
    worker.on('message', (answer: QueryAnswer) => this.#settle(answer));
    worker.once('error', error => {
      died = error;
    });
    worker.once('exit', () => {
      this.#worker = undefined;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of waiting) {
        reject(new DeliveryLogError('failed', 'the query thread died', { cause: died }));
      }
    });
    return worker;
  }

  #settle(answer: QueryAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.result);
    else waiting?.reject(new DeliveryLogError(answer.error.code, answer.error.message));
  }
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
      const { code, message } = toQueryError(cause);
      throw new DeliveryLogError(code, message, { cause });
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
