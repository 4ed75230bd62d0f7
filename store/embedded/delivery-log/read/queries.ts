import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DeliveryLogReader } from '../../../delivery-log.ts';
import { DeliveryLogError } from '../../../delivery-log-error.ts';
import type { Query, QueryAnswer, QueryVerb } from './query-wire.ts';

/** @limit Most questions to the delivery log that wait for their thread: each takes a few ms, so that the last is still answered in time. */
const queriesWaitingMax = 256;

/**
 * A reader that answers in a thread of its own, one question after the other: a slow list delays only other lists.
 * The thread starts with the first question, and again should it have died. Questions reject with DeliveryLogError
 * `full` (too many wait), `failed` or `closed`.
 */
export function openThreadReader(file: string): DeliveryLogReader & { close(): Promise<void> } {
  const thread = new QueryThread(file);
  const verb =
    <V extends QueryVerb>(name: V) =>
    (...given: Parameters<DeliveryLogReader[V]>) =>
      thread.ask(name, given) as ReturnType<DeliveryLogReader[V]>;
  return {
    listDeliveries: verb('listDeliveries'),
    findDelivery: verb('findDelivery'),
    countAccepted: verb('countAccepted'),
    countByHour: verb('countByHour'),
    readPayload: verb('readPayload'),
    listRuns: verb('listRuns'),
    findRun: verb('findRun'),
    runsOfDelivery: verb('runsOfDelivery'),
    readSnapshot: verb('readSnapshot'),
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
      if (this.#closed) return reject(new DeliveryLogError('closed', 'the delivery log is closed'));
      if (this.#waiting.size >= queriesWaitingMax) {
        return reject(new DeliveryLogError('full', 'too many questions to the delivery log wait'));
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
    let died: unknown = new Error('the query thread ended');
    worker.on('message', (answer: QueryAnswer) => this.#settle(answer));
    worker.once('error', error => {
      died = error;
    });
    worker.once('exit', () => {
      this.#worker = undefined;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of waiting) {
        reject(new DeliveryLogError('failed', 'the query thread ended', { cause: died }));
      }
    });
    return worker;
  }

  #settle(answer: QueryAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.result);
    else waiting?.reject(new DeliveryLogError('failed', answer.message));
  }
}
