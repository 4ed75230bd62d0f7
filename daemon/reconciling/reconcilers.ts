import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Factory } from '../../operations/factory.ts';
import { summarize } from '../../operations/plan.ts';
import { type Reconciled, reconcile } from '../../operations/reconcile.ts';
import { type ReconcileLoop, startReconcileLoop } from '../../operations/reconcile-loop.ts';
import {
  type FollowedRepository,
  getIntervalMs,
  toFollowedBranch,
} from '../../sources/repository/followed-repository.ts';
import type { Store } from '../../store/ports.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';

export interface ReconcilersOptions {
  readonly store: Store;
  readonly repositories: readonly FollowedRepository[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly random: () => number;
  /** Called when an applied state was written. */
  readonly onApplied: () => void;
}

export interface Reconcilers {
  /** Reconciles the factories that this webhook triggers, without delay. Called when its delivery is on disk. */
  trigger(webhook: Pick<ServedWebhook, 'factory' | 'name'>): void;
  /** Ends the reconciles in progress. */
  stop(): Promise<void>;
}

/** Follows each repository in a loop of its own, so that none can delay another. */
export function startReconcilers(options: ReconcilersOptions): Reconcilers {
  const loops: ReconcileLoop[] = [];
  const triggered = new Map<string, ReconcileLoop[]>();
  for (const followed of options.repositories) {
    const loop = startLoop(followed, options);
    loops.push(loop);
    const trigger = getTrigger(followed);
    if (trigger !== undefined) triggered.set(trigger, [...(triggered.get(trigger) ?? []), loop]);
  }
  return {
    trigger: ({ factory, name }) => {
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
    intervalMs: getIntervalMs(followed),
    reconcile: signal => reconcile(factory, branch, { environment, signal }),
    onReconciled: reconciled => {
      report(log, reconciled);
      if (reconciled.result === 'applied') onApplied();
    },
    onError: err => log.error({ err }, 'cannot store the result of a reconcile'),
    random,
  });
}

/** Returns `<factory>/<webhook>`. A setting without a slash names a webhook of the factory itself. */
function getTrigger({ factory, trigger }: FollowedRepository): string | undefined {
  return trigger === undefined || trigger.includes('/') ? trigger : `${factory}/${trigger}`;
}

function report(log: Logger, reconciled: Reconciled): void {
  if (reconciled.result === 'applied') {
    const { tip, state, changes } = reconciled;
    log.info({ tip, serial: state.serial, ...summarize(changes) }, 'applied the tip of the branch');
  } else if (reconciled.result === 'failed') {
    const { reason, message, hint, tip, diagnostics } = reconciled;
    const detail = { reason, detail: message, hint, tip, diagnostics };
    log.error(detail, 'cannot apply the branch; the last good state is still served');
  } else {
    log.debug({ result: reconciled.result }, 'reconciled');
  }
}
