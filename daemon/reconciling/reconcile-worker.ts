import { randomBytes } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Reconciled, reconcile } from '../../operations/branch/reconcile.ts';
import { summarize } from '../../operations/plan/plan.ts';
import { openStore } from '../../store/open-store.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import type { FromReconciles, ReconcileReport, ToReconciles } from './reconcile-thread.ts';

/** @limit Time between two signs of life of the reconcile thread, in ms: a fraction of the time after which it is stopped. */
const aliveMs = 1_000;

// The reconcile thread: it reconciles several factories at the same time, on a store of its own.
await serve(parentPort, workerData);

async function serve(port: MessagePort | null, place: StorePlace): Promise<void> {
  if (!port) throw new Error('the reconcile worker runs in a worker thread');
  const store = await openStore({ ...place, now: () => new Date(), readsInThread: false });
  const stops = new Map<string, AbortController>();
  const reply = (message: FromReconciles) => port.postMessage(message);
  reply({ kind: 'alive' });
  setInterval(() => reply({ kind: 'alive' }), aliveMs);
  port.on('message', (message: ToReconciles) => {
    if (message.kind === 'end') process.exit();
    const { kind, factory: name } = message;
    if (kind === 'stop') return stops.get(name)?.abort();
    const stopping = new AbortController();
    stops.set(name, stopping);
    const { branch, environment } = message;
    reconcile({ name, store, now: () => new Date(), randomBytes }, branch, {
      environment,
      signal: stopping.signal,
      onProgress: ({ step }) => step === 'apply' && reply({ kind: 'applying', factory: name }),
    }).then(
      reconciled => reply({ kind: 'ended', factory: name, report: reportReconcile(reconciled) }),
      (error: unknown) => reply({ kind: 'failed', factory: name, error }),
    );
  });
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
