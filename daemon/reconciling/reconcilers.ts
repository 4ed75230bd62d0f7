import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Factory } from '../../operations/factory.ts';
import { summarize } from '../../operations/plan.ts';
import { type Reconciled, reconcile } from '../../operations/reconcile.ts';
import { type ReconcileLoop, startReconcileLoop } from '../../operations/reconcile-loop.ts';
import { parseDurationMs } from '../../schema/definitions/duration.ts';
import {
  type FollowedRepository,
  reconcileSeconds,
  toFollowedBranch,
} from '../../sources/repository/followed-repository.ts';
import type { Store } from '../../store/ports.ts';
import type { ServedWebhook } from '../served/served-webhooks.ts';

export interface ReconcilersOptions {
  readonly store: Store;
  readonly repositories: readonly FollowedRepository[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly random: () => number;
  /** An applied state was written. */
  readonly onApplied: () => void;
}

export interface Reconcilers {
  /** A delivery of the webhook is on disk: what it is the trigger of is reconciled at once. */
  deliveryAccepted(webhook: Pick<ServedWebhook, 'factory' | 'name'>): void;
  /** Ends the reconciles under way. */
  stop(): Promise<void>;
}

/** Follows each repository by a loop of its own: they share nothing that one could hold up for another. */
export function startReconcilers(options: ReconcilersOptions): Reconcilers {
  const loops = options.repositories.map(followed => startLoop(followed, options));
  const triggered = new Map<string, ReconcileLoop[]>();
  for (const [index, loop] of loops.entries()) {
    const trigger = triggerOf(options.repositories[index]);
    if (trigger !== undefined) triggered.set(trigger, [...(triggered.get(trigger) ?? []), loop]);
  }
  return {
    deliveryAccepted: ({ factory, name }) => {
      if (triggered.size === 0) return;
      for (const loop of triggered.get(`${factory}/${name}`) ?? []) loop.trigger();
    },
    stop: async () => {
      await Promise.all(loops.map(loop => loop.stop()));
    },
  };
}

function startLoop(followed: FollowedRepository, options: ReconcilersOptions): ReconcileLoop {
  const { store, environment, random, onApplied } = options;
  const name = followed.factory;
  const log = options.log.child({ factory: name });
  const factory: Factory = { name, store, now: () => new Date(), randomBytes };
  const branch = toFollowedBranch(followed);
  return startReconcileLoop({
    intervalMs: parseDurationMs(followed.interval) ?? reconcileSeconds * 1_000,
    reconcile: signal => reconcile(factory, branch, { environment, signal }),
    onReconciled: reconciled => {
      report(log, reconciled);
      if (reconciled.result === 'applied') onApplied();
    },
    onError: err => log.error({ err }, 'how a reconcile ended could not be kept'),
    random,
  });
}

/** `<factory>/<webhook>`; a name alone is of the factory itself. */
function triggerOf(followed: FollowedRepository | undefined): string | undefined {
  const { factory, trigger } = followed ?? {};
  return trigger === undefined || trigger.includes('/') ? trigger : `${factory}/${trigger}`;
}

function report(log: Logger, reconciled: Reconciled): void {
  if (reconciled.result === 'applied') {
    const { tip, state, changes } = reconciled;
    log.info({ tip, serial: state.serial, ...summarize(changes) }, 'the tip of the branch was applied');
  } else if (reconciled.result === 'failed') {
    const { reason, message, hint, tip, diagnostics } = reconciled;
    const detail = { reason, detail: message, hint, tip, diagnostics };
    log.error(detail, 'the branch could not be applied; the last good state stays in force');
  } else {
    log.debug({ result: reconciled.result }, 'reconciled');
  }
}
