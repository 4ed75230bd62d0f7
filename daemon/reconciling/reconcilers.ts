import type { Logger } from 'pino';
import { type ReconcileLoop, startReconcileLoop } from '../../operations/branch/reconcile-loop.ts';
import { recordReconcileEnd } from '../../operations/branch/remembered-repository.ts';
import { type ReconcileView, reconcileView } from '../../operations/views/reconcile-view.ts';
import {
  type FollowedRepository,
  getIntervalMs,
  toFollowedBranch,
} from '../../sources/repository/followed-repository.ts';
import { lookRegularly } from '../../store/look-regularly.ts';
import type { Replicas } from '../../store/ports/replicas.ts';
import type { Store } from '../../store/ports/store.ts';
import { doInTurn } from '../background-work.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';
import { type ReconcileReport, ReconcileThread } from './reconcile-thread.ts';

/** @limit Wait for a reconcile by another daemon after a push, in ms: it may have read the branch before the push. */
const turnWaitMs = 1_000;
/** @limit Shortest time between two looks whether somebody asks for a reconcile at once, in ms: a person waits that long. */
const askedEveryMs = 1_000;

interface TurnTaking {
  readonly replicas: Replicas;
  readonly factory: string;
  readonly intervalMs: number;
  readonly reconcile: (signal: AbortSignal) => Promise<ReconcileReport>;
  /** Reconciles again soon. */
  readonly onRetry: () => void;
  /** Reads when somebody asked for a reconcile that has not ended yet; null if nobody did. */
  readonly readAsked: () => Promise<string | null>;
}

interface ReconcilersOptions {
  readonly store: Store;
  readonly repositories: readonly FollowedRepository[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly random: () => number;
  /** Called when the applied state of a factory was written. */
  readonly onApplied: (factory: string) => void;
}

interface Reconcilers {
  /** Reconciles the factories that this webhook triggers, without delay. Called when its delivery is on disk. */
  trigger(webhook: Pick<ServedWebhook, 'factory' | 'name'>): void;
  /** Ends the reconciles in progress. */
  stop(): Promise<void>;
}

/** Follows each repository in a loop of its own, so that none can delay another. */
export function startReconcilers(options: ReconcilersOptions): Reconcilers {
  const { store, environment } = options;
  const now = () => new Date();
  const thread = new ReconcileThread({
    ...{ place: store.place, environment },
    onTooLarge: async (name, branch, failure) => {
      const { askedAt } = await store.reconcileStatuses.read(name);
      await recordReconcileEnd({ name, store, now }, branch, { ok: false, ...failure }, askedAt);
    },
  });
  const loops: FollowedLoop[] = [];
  const triggered = new Map<string, FollowedLoop[]>();
  for (const followed of options.repositories) {
    const loop = startLoop(followed, options, thread);
    loops.push(loop);
    const trigger = getTrigger(followed);
    if (trigger !== undefined) triggered.set(trigger, [...(triggered.get(trigger) ?? []), loop]);
  }
  const endLooks = lookRegularly(() => Promise.all(loops.map(loop => loop.lookWhetherAsked())), askedEveryMs);
  return {
    trigger: ({ factory, name }) => {
      if (triggered.size === 0) return;
      for (const loop of triggered.get(`${factory}/${name}`) ?? []) loop.trigger();
    },
    stop: async () => {
      endLooks();
      await Promise.all(loops.map(loop => loop.stop()));
      await thread.close();
    },
  };
}

interface FollowedLoop extends ReconcileLoop {
  /** Reconciles soon if somebody has asked for that since the last look, at whichever daemon. Never fails. */
  lookWhetherAsked(): Promise<void>;
}

function startLoop(
  followed: FollowedRepository,
  { store: { replicas, reconcileStatuses }, log: parent, random, onApplied }: ReconcilersOptions,
  thread: ReconcileThread,
): FollowedLoop {
  const { factory } = followed;
  const log = parent.child({ factory });
  const branch = toFollowedBranch(followed);
  const intervalMs = getIntervalMs(followed);
  const reconcile = (signal: AbortSignal) => thread.reconcile(factory, branch, signal);
  const readAsked = async () => (await reconcileStatuses.read(factory)).askedAt;
  const onRetry = () => loop.trigger();
  const turns = replicas && takeTurnsAt({ replicas, factory, intervalMs, reconcile, onRetry, readAsked });
  let asked: string | null = null;
  const loop = startReconcileLoop({
    intervalMs,
    reconcile: turns?.reconcile ?? reconcile,
    onReconciled: report => {
      logReport(log, report);
      if (report.result === 'applied') onApplied(factory);
    },
    onError: err => log.error({ err }, 'cannot store the result of a reconcile'),
    random,
  });
  return {
    ...loop,
    trigger: () => {
      turns?.want();
      loop.trigger();
    },
    lookWhetherAsked: async () => {
      // A status that cannot be read fails the next reconcile, which tells it.
      const before = asked;
      asked = await readAsked().catch(() => before);
      if (asked === null || asked === before) return;
      turns?.ask();
      loop.trigger();
    },
  };
}

/** Returns `<factory>/<webhook>`. A setting without a slash names a webhook of the factory itself. */
function getTrigger({ factory, trigger }: FollowedRepository): string | undefined {
  return trigger === undefined || trigger.includes('/') ? trigger : `${factory}/${trigger}`;
}

function logReport(log: Logger, report: ReconcileReport): void {
  if (report.result === 'applied') {
    const { tip, serial, summary } = report;
    log.info({ tip, serial, ...summary }, 'applied the tip of the branch');
  } else if (report.result === 'failed') {
    const { reason, message, hint, tip, diagnostics } = report;
    const detail = { reason, detail: message, hint, tip, diagnostics };
    log.error(detail, 'cannot apply the branch; the last good state is still served');
  } else {
    log.debug({ result: report.result }, 'reconciled');
  }
}

/** Lets the daemons of a store take turns at following a branch, so that the remote is asked as often as by one. */
function takeTurnsAt({ replicas, factory, intervalMs, reconcile, onRetry, readAsked }: TurnTaking) {
  // Each daemon reconciles when it starts, because its settings may have changed.
  let isWanted = true;
  let isAsked = false;
  return {
    /** Makes the next reconcile happen here, even if another daemon has just reconciled. */
    want: () => {
      isWanted = true;
    },
    /** Makes the next reconcile happen, here unless another daemon answers whoever asked first. */
    ask: () => {
      isAsked = true;
    },
    reconcile: async (signal: AbortSignal): Promise<ReconcileReport> => {
      const everyMs = isWanted || isAsked ? 0 : intervalMs;
      const done = await doInTurn(replicas, `reconcile ${factory}`, everyMs, async lost => {
        const isOnlyAsked = isAsked && !isWanted;
        isWanted = false;
        isAsked = false;
        if (isOnlyAsked && (await readAsked()) === null) return { result: 'elsewhere' } as const;
        return reconcile(AbortSignal.any([signal, lost]));
      });
      if (done) return done.result;
      if (isWanted || isAsked) setTimeout(onRetry, turnWaitMs).unref();
      return { result: 'elsewhere' };
    },
  };
}

/** How the last reconciles of a factory that follows a branch ended, in this process or another. */
export interface FactoryReconcile {
  readonly factory: string;
  readonly reconcile:
    | ReconcileView
    /** The status cannot be read; then nothing is reconciled either. */
    | { readonly problem: string };
}

export async function readReconcileStatuses({
  appliedStates,
  reconcileStatuses,
}: Pick<Store, 'appliedStates' | 'reconcileStatuses'>): Promise<FactoryReconcile[]> {
  const factories = await appliedStates.listFactories().catch(() => []);
  const statuses = factories.map(async factory => {
    const reconcile = await reconcileStatuses.read(factory).then(
      status => reconcileView(status),
      (error: Error) => ({ problem: error.message }),
    );
    return reconcile ? [{ factory, reconcile }] : [];
  });
  return (await Promise.all(statuses)).flat();
}
