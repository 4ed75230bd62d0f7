import { once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import { DeliveryLogError, type DeliveryLogErrorCode } from './ports/store-error.ts';

/** Functions that another thread can call. Arguments and results are plain data, because they are copied. */
type Verbs<Names extends PropertyKey = string> = Readonly<Record<Names, (...given: never) => unknown>>;

/** Calls a function of the other thread. */
export type CallVerb<Theirs extends Verbs<keyof Theirs>> = <Name extends keyof Theirs & string>(
  verb: Name,
  given: Readonly<Parameters<Theirs[Name]>>,
) => Promise<Awaited<ReturnType<Theirs[Name]>>>;

export interface CalledThread<Theirs extends Verbs<keyof Theirs>> {
  /** Starts the thread if it does not run. Fails with ThreadEnded if it ends before it answers. */
  readonly call: CallVerb<Theirs>;
  /** Ends the thread in the middle of its work. */
  terminate(): void;
  /** Lets the thread end between two turns of its work; after a limit, in the middle of one. */
  end(limitMs?: number): Promise<void>;
}

/** The thread ended before it answered. The cause is the error that ended it, if there was one. */
export class ThreadEnded extends Error {}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly verb: string; readonly given: readonly unknown[] }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  /** Errors lose their class between threads: the code is the one of a DeliveryLogError. */
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly error: unknown;
      readonly code?: DeliveryLogErrorCode;
    }
  | { readonly kind: 'end' };

/**
 * Calls the functions of a thread, which may call those in `own`. The thread starts with the first call, and again with the
 * next one after it ended.
 */
export function callThread<Theirs extends Verbs<keyof Theirs>>(
  start: () => Worker,
  own: Verbs = {},
): CalledThread<Theirs> {
  let running: (ReturnType<typeof exchangeCalls<Theirs>> & { readonly worker: Worker }) | undefined;
  const begin = () => {
    const worker = start();
    const calls = exchangeCalls<Theirs>(worker, own);
    let died: unknown;
    worker.once('error', error => {
      died = error;
    });
    worker.once('exit', () => {
      running = undefined;
      calls.failAll(new ThreadEnded('the thread ended', { cause: died }));
    });
    return { ...calls, worker };
  };
  return {
    call: (...asked) => {
      running ??= begin();
      return running.call(...asked);
    },
    terminate: () => void running?.worker.terminate(),
    end: async limitMs => {
      if (!running) return;
      const { worker } = running;
      const ended = once(worker, 'exit');
      worker.postMessage({ kind: 'end' } satisfies Message);
      const limit = limitMs === undefined ? undefined : setTimeout(() => void worker.terminate(), limitMs);
      await ended;
      clearTimeout(limit);
    },
  };
}

/** Lets the thread that started this one call the functions in `own`, and calls its functions. `end` ends this thread. */
export function answerThread<Theirs extends Verbs<keyof Theirs>>(
  port: MessagePort | null,
  own: Verbs,
  end: () => void,
): CallVerb<Theirs> {
  if (!port) throw new Error('a worker runs in a worker thread');
  return exchangeCalls<Theirs>(port, own, end).call;
}

function exchangeCalls<Theirs extends Verbs<keyof Theirs>>(
  port: Pick<MessagePort | Worker, 'on' | 'postMessage'>,
  own: Verbs,
  end?: () => void,
) {
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let calls = 0;
  const send = (message: Message) => port.postMessage(message);
  const call: CallVerb<Theirs> = (verb, given) => {
    const answered = Promise.withResolvers<never>();
    const id = ++calls;
    waiting.set(id, answered);
    send({ kind: 'call', id, verb, given });
    return answered.promise;
  };
  port.on('message', async (message: Message) => {
    if (message.kind === 'end') return end?.();
    if (message.kind === 'call') return send(await answer(message, own));
    const answered = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'done') answered?.resolve(message.result as never);
    else answered?.reject(toError(message));
  });
  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  return { call, failAll };
}

async function answer({ id, verb, given }: Extract<Message, { kind: 'call' }>, own: Verbs): Promise<Message> {
  try {
    return { kind: 'done', id, result: await own[verb]?.(...(given as never)) };
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) return { kind: 'failed', id, error };
    return { kind: 'failed', id, error: error.message, code: error.code };
  }
}

function toError({ error, code }: Extract<Message, { kind: 'failed' }>): unknown {
  return code ? new DeliveryLogError(code, String(error)) : error;
}
