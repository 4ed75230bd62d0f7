import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { type Reconciled, reconcile } from '../../operations/branch/reconcile.ts';
import { summarize } from '../../operations/plan/plan.ts';
import { answerThread, type CallVerb } from '../../store/call-thread.ts';
import { openStore } from '../../store/open-store.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import type { ReconcileReport, ReconcileVerbs, WatchVerbs } from './reconcile-thread.ts';

/** @limit Time between two signs of life of the reconcile thread, in ms: a fraction of the time after which it is stopped. */
const aliveMs = 1_000;

// The reconcile thread: it reconciles several factories at the same time, on a store of its own.
await serve(workerData);

async function serve(place: StorePlace): Promise<void> {
  const now = () => new Date();
  const store = await openStore({ ...place, now, readsInThread: false });
  const stops = new Map<string, AbortController>();
  const verbs: ReconcileVerbs = {
    reconcile: async (name, branch, environment) => {
      const stopping = new AbortController();
      stops.set(name, stopping);
      const reconciled = await reconcile({ name, store, now, randomBytes }, branch, {
        environment,
        signal: stopping.signal,
        onProgress: ({ step }) => step === 'apply' && void call('applying', [name]),
      });
      return reportReconcile(reconciled);
    },
    stop: name => stops.get(name)?.abort(),
  };
  const call: CallVerb<WatchVerbs> = answerThread(parentPort, { ...verbs }, () => process.exit());
  const sayAlive = () => void call('alive', []);
  sayAlive();
  setInterval(sayAlive, aliveMs);
}

function reportReconcile(reconciled: Reconciled): ReconcileReport {
  const { result } = reconciled;
  if (result === 'applied') {
    const { tip, state, changes } = reconciled;
    return { result, tip, serial: state.serial, summary: summarize(changes) };
  }
  if (result !== 'failed') return { result };
  const { texts: _, ...failure } = reconciled;
  return failure;
}
