import { randomBytes } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { findInHealth, followEpisodes, listWatched } from '../../operations/attention/follow-episodes.ts';
import { makeRunVerbs } from '../../operations/factory.ts';
import { type FoundHealth, lookAtWebhooks } from '../../operations/health/look-at-webhooks.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store, StorePlace } from '../../store/ports/store.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import { openServedStateReader } from '../management/api/read-served-state.ts';
import type {
  FindMissedArgument,
  FromThread,
  LogVerb,
  LookArgument,
  ThreadLog,
  ThreadVerb,
  ToThread,
} from './wire.ts';

type Verb = (argument: never, readOutside: ReadOutside) => Promise<unknown>;

// The operations thread: it runs one operation after the other, on a store of its own. While one waits for other
// processes, the next one runs.
await serve(workerData);

async function serve(place: StorePlace): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('the operations worker runs in a worker thread');
  // The daemon's time, as the newest request says it.
  const clock = { atMs: Date.now() };
  const now = () => new Date(clock.atMs);
  const store = await openStore({ ...place, now, readsInThread: false });
  const { read } = store.appliedStates;
  const readServedState = openServedStateReader(store.appliedStates);
  const writes = openLogWrites(port);
  const verbs: Readonly<Record<ThreadVerb, Verb>> = {
    answerRequest: loadLater(async () => {
      const { createAnswerer } = await import('../management/api/answer-in-thread.ts');
      return createAnswerer({ store, deliveryLog: writes.deliveryLog, readServedState, clock });
    }),
    loadState: loadLater(async () => {
      const { loadState } = await import('../served/loaded-state.ts');
      return async (factory: string) => loadState(await read(factory), await store.seal.opener(), factory);
    }),
    readRunAutomation: loadLater(async () => {
      const { readRunAutomationsFrom } = await import('../runs/run-automations.ts');
      return readRunAutomationsFrom(store.deliveries);
    }),
    watchSender: loadLater(async () => {
      const { createSenderVerbs } = await import('./sender-verbs.ts');
      return createSenderVerbs({ store, readServedState, clock }).watchSender;
    }),
    recoverMissed: loadLater(async () => {
      const { createSenderVerbs } = await import('./sender-verbs.ts');
      return createSenderVerbs({ store, readServedState, clock }).recoverMissed;
    }),
    findMissed: loadLater(async () => {
      const { findMissed } = await import('../../operations/attention/find-missed.ts');
      return (argument: FindMissedArgument) => findMissed(store, read, argument);
    }),
    lookAtWebhooks: argument => lookWithAlerts(store, writes.deliveryLog, argument),
  };
  const reply = (message: FromThread) => port.postMessage(message);
  const turns = openTurns(reply);
  port.on('message', (message: ToThread) => {
    if (message.kind === 'end') process.exit();
    if (message.kind === 'goes-on') return turns.goOn(message.job);
    if (message.kind !== 'run') return writes.end(message);
    const { job, verb, argument } = message;
    verbs[verb](argument as never, turns.letOthersRun(job)).then(
      result => reply({ kind: 'done', job, result }),
      (error: unknown) => reply({ kind: 'failed', job, error }),
    );
  });
}

/** Lets the main thread give others their turn while a job waits for other processes. */
function openTurns(tell: (message: FromThread) => void) {
  const ready = new Map<number, () => void>();
  const letOthersRun =
    (job: number): ReadOutside =>
    async read => {
      tell({ kind: 'waits', job });
      try {
        return await read();
      } finally {
        await new Promise<void>(resolve => {
          ready.set(job, resolve);
          tell({ kind: 'ready', job });
        });
      }
    };
  const goOn = (job: number) => {
    ready.get(job)?.();
    ready.delete(job);
  };
  return { letOthersRun, goOn };
}

/**
 * Loads the code of a verb when it is first asked for. The threads of most daemons only look at webhooks, and that takes
 * a small part of the code.
 */
function loadLater(load: () => Promise<Verb>): Verb {
  let loading: Promise<Verb> | undefined;
  return async (argument, readOutside) => {
    loading ??= load();
    return (await loading)(argument, readOutside);
  };
}

/** Looks at webhooks, and opens and ends the episodes of alerts by their health. */
async function lookWithAlerts(
  { deliveries, appliedStates, alerts }: Store,
  deliveryLog: ThreadLog,
  { nowMs, targets }: LookArgument,
): Promise<boolean> {
  const watched = listWatched(await alerts.read());
  const onFound = async (found: readonly FoundHealth[]) => {
    const findings = found.flatMap(findInHealth);
    await alerts.change(state => followEpisodes(state, findings, { ...targets, nowMs, randomBytes }));
  };
  return lookAtWebhooks({ deliveries, deliveryLog, readState: appliedStates.read, nowMs, watched, onFound });
}

/** The delivery log as this thread can write it: through the main thread. */
function openLogWrites(port: MessagePort) {
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let writes = 0;
  const write = (verb: LogVerb) => (argument: never) => {
    const end = Promise.withResolvers<never>();
    waiting.set(++writes, end);
    port.postMessage({ kind: 'write', write: writes, verb, argument } satisfies FromThread);
    return end.promise;
  };
  const deliveryLog: ThreadLog = {
    ...makeRunVerbs(write),
    recordTallies: write('recordTallies'),
    recordHealth: write('recordHealth'),
  };
  const end = (message: Extract<ToThread, { kind: 'written' | 'not-written' }>) => {
    const ended = waiting.get(message.write);
    waiting.delete(message.write);
    if (message.kind === 'written') ended?.resolve(message.result as never);
    else ended?.reject(new DeliveryLogError(message.code, message.message));
  };
  return { deliveryLog, end };
}
