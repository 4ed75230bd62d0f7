import { randomBytes } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { findInHealth, listWatched } from '../../operations/alerts/find-in-health.ts';
import { followEpisodes } from '../../operations/alerts/follow-episodes.ts';
import { type FoundHealth, lookAtWebhooks } from '../../operations/health/look-at-webhooks.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store, StorePlace } from '../../store/ports.ts';
import { openStateCache } from '../management/api/state-cache.ts';
import type { FromThread, LogVerb, LookArgument, ThreadLog, ThreadVerb, ToThread } from './wire.ts';

type Verb = (argument: never) => Promise<unknown>;

// The operations thread: it runs one operation after the other, on a store of its own.
await serve(workerData);

async function serve(place: StorePlace): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('the operations worker runs in a worker thread');
  const store = await openStore({ ...place, now: () => new Date(), readsInThread: false });
  const states = openStateCache(store.appliedStates);
  const writes = openLogWrites(port);
  const verbs: Readonly<Record<ThreadVerb, Verb>> = {
    answerRequest: loadLater(async () => {
      const { createAnswerer } = await import('../management/api/answer-in-thread.ts');
      return createAnswerer({ store, deliveryLog: writes.deliveryLog, states });
    }),
    loadState: loadLater(async () => {
      const { loadState } = await import('../served/loaded-state.ts');
      return async (factory: string) => {
        const state = await states.read(factory);
        return loadState(state, await store.seal.opener(), factory);
      };
    }),
    readRunAutomation: loadLater(async () => {
      const { readRunAutomationsFrom } = await import('../runs/run-automations.ts');
      return readRunAutomationsFrom(store.deliveries);
    }),
    lookAtWebhooks: argument => lookWithAlerts(store, writes.deliveryLog, argument),
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'end') process.exit();
    if (message.kind !== 'run') return writes.end(message);
    const reply = (message: FromThread) => port.postMessage(message);
    verbs[message.verb](message.argument as never).then(
      result => reply({ kind: 'done', result }),
      (error: unknown) => reply({ kind: 'failed', error }),
    );
  });
}

/**
 * Loads the code of a verb when it is first asked for. The threads of most daemons only look at webhooks, and that takes
 * a small part of the code.
 */
function loadLater(load: () => Promise<Verb>): Verb {
  let loading: Promise<Verb> | undefined;
  return async argument => {
    loading ??= load();
    return (await loading)(argument);
  };
}

/** Looks at webhooks, and opens and ends the episodes of alerts by their health. */
async function lookWithAlerts(
  { deliveries, appliedStates, alerts }: Store,
  deliveryLog: ThreadLog,
  { nowMs, alerts: settings }: LookArgument,
): Promise<boolean> {
  const watched = settings ? listWatched(await alerts.read()) : [];
  const onFound = async (found: readonly FoundHealth[]) => {
    if (!settings) return;
    const findings = found.flatMap(findInHealth);
    await alerts.change(state => followEpisodes(state, findings, { ...settings, nowMs, randomBytes }));
  };
  return lookAtWebhooks({ deliveries, deliveryLog, readState: appliedStates.read, nowMs, watched, onFound });
}

/** The delivery log as this thread can write it: through the main thread, one write at a time. */
function openLogWrites(port: MessagePort) {
  let waiting: PromiseWithResolvers<boolean> | undefined;
  const write = (verb: LogVerb) => (argument: never) => {
    waiting = Promise.withResolvers<boolean>();
    port.postMessage({ kind: 'write', verb, argument } satisfies FromThread);
    return waiting.promise;
  };
  const deliveryLog: ThreadLog = {
    replay: write('replay'),
    retryRun: write('retryRun'),
    dismissRun: write('dismissRun'),
    recordTallies: write('recordTallies'),
    recordHealth: write('recordHealth'),
  };
  return {
    deliveryLog,
    end: (message: Exclude<ToThread, { kind: 'run' | 'end' }>) => {
      if (message.kind === 'written') waiting?.resolve(message.result);
      else waiting?.reject(message.error);
    },
  };
}
