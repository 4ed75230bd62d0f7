import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { findInHealth, followEpisodes, listWatched } from '../../operations/attention/follow-episodes.ts';
import { makeRunVerbs } from '../../operations/factory.ts';
import { type FoundHealth, lookAtWebhooks } from '../../operations/health/look-at-webhooks.ts';
import { LooksInTurns } from '../../schema/quota.ts';
import { answerThread, type CallVerb } from '../../store/call-thread.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store, StorePlace } from '../../store/ports/store.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import { openServedStateReader } from '../management/api/read-served-state.ts';
import { letOthersRun } from './turns.ts';
import type { FindMissedArgument, LookArgument, MainVerbs, ThreadLog, ThreadVerbs } from './wire.ts';

type Work<Argument, Result> = (
  argument: Argument,
  readOutside: ReadOutside,
  beforeChange: () => Promise<void>,
) => Promise<Result>;

// The operations thread: it runs one operation after the other, on a store of its own. While one waits for other
// processes, the next one runs.
await serve(workerData);

async function serve(place: StorePlace): Promise<void> {
  // The daemon's time, as the newest call says it: what is stored ahead of it counts as now.
  let nowMs = Date.now();
  const now = () => new Date(nowMs);
  const store = await openStore({ ...place, now, readsInThread: false });
  const { read } = store.appliedStates;
  const readServedState = openServedStateReader(store.appliedStates);
  const deliveryLog: ThreadLog = {
    ...makeRunVerbs(verb => argument => call(verb, [argument])),
    recordTallies: argument => call('recordTallies', [argument]),
    recordHealth: argument => call('recordHealth', [argument]),
  };
  const loadSenderVerbs = async () => {
    const { createSenderVerbs } = await import('./sender-verbs.ts');
    return createSenderVerbs({ store, readServedState });
  };
  /**
   * Loads the code of a verb when it is first asked for. The threads of most daemons only look at webhooks, and that takes
   * a small part of the code.
   */
  const loadLater = <Argument, Result>(load: () => Promise<Work<Argument, Result>>) => {
    let loading: Promise<Work<Argument, Result>> | undefined;
    return async (argument: Argument, job: number) => {
      // A load that failed, for example for lack of memory, is not kept: the next call tries again.
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return (await loading)(argument, letOthersRun(call, job), () => call('changes', [job]));
    };
  };
  const verbs: ThreadVerbs = {
    answerRequest: loadLater(async () => {
      const { createAnswerer } = await import('../management/api/answer-in-thread.ts');
      return createAnswerer({ store, deliveryLog, readServedState });
    }),
    loadState: loadLater(async () => {
      const { loadState } = await import('../served/loaded-state.ts');
      return async (factory: string) => loadState(await read(factory), await store.seal.opener(), factory);
    }),
    readRunAutomation: loadLater(async () => {
      const { readRunAutomationsFrom } = await import('../runs/run-automations.ts');
      return readRunAutomationsFrom(store.deliveries);
    }),
    watchSender: loadLater(async () => (await loadSenderVerbs()).watchSender),
    recoverMissed: loadLater(async () => (await loadSenderVerbs()).recoverMissed),
    findMissed: loadLater(async () => {
      const { findMissed } = await import('../../operations/attention/find-missed.ts');
      return (argument: FindMissedArgument) => findMissed(store, read, argument);
    }),
    lookAtWebhooks: argument => lookWithAlerts(store, deliveryLog, argument),
  };
  const timed = tellTime(verbs, toldMs => {
    nowMs = toldMs;
  });
  const call: CallVerb<MainVerbs> = answerThread(parentPort, timed, () => process.exit());
}

/** Tells the time of each call that has one, before it begins. */
function tellTime(verbs: ThreadVerbs, tell: (nowMs: number) => void) {
  const timed = Object.entries(verbs).map(([name, verb]) => [
    name,
    (argument: never, job: never) => {
      const { nowMs } = argument as { readonly nowMs?: number };
      if (nowMs !== undefined) tell(nowMs);
      return verb(argument, job);
    },
  ]);
  return Object.fromEntries(timed);
}

/** @limit Webhooks that each pass judges because an alert is open for them, in turns of factories. */
const watchedMax = 100;
const watching = new LooksInTurns(watchedMax);

/** Looks at webhooks, and opens and ends the episodes of alerts by their health. */
async function lookWithAlerts(
  { deliveries, appliedStates, alerts }: Store,
  deliveryLog: ThreadLog,
  { nowMs, targets }: LookArgument,
): Promise<boolean> {
  const watched = watching.take(listWatched(await alerts.read()), ({ factory }) => factory);
  const onFound = async (found: readonly FoundHealth[]) => {
    const findings = found.flatMap(findInHealth);
    await alerts.change(state => followEpisodes(state, findings, { ...targets, nowMs, randomBytes }));
  };
  return lookAtWebhooks({ deliveries, deliveryLog, readState: appliedStates.read, nowMs, watched, onFound });
}
