import type { AppliedState } from '../../schema/applied-state.ts';
import type { Store } from '../../store/ports.ts';
import type { ServedFactories, ServedFactory } from './served-factories.ts';
import type { ServedWebhook } from './served-webhook.ts';
import { prepareWebhooks } from './served-webhooks.ts';

export interface ServedStates extends ServedFactories {
  findWebhook(uid: string): ServedWebhook | undefined;
  close(): Promise<void>;
}

export interface ServedStatesOptions {
  readonly store: Pick<Store, 'appliedStates' | 'seal'>;
  readonly onLoaded: (status: ServedFactory) => void;
  readonly onProblem: (status: ServedFactory) => void;
}

interface Loaded {
  /** The version of the stored state, which is known without reading the state. */
  readonly version: string | undefined;
  readonly status: ServedFactory;
  readonly state: AppliedState | undefined;
  readonly webhooks: readonly ServedWebhook[];
}

/**
 * Serves the applied states of all factories and follows their changes. All webhooks of a factory change together.
 * While a state cannot be read, the last good one is served. Resolves when every factory was loaded once.
 */
export async function serveAppliedStates(options: ServedStatesOptions): Promise<ServedStates> {
  const { appliedStates } = options.store;
  const factories = new Map<string, Loaded>();
  let index = new Map<string, ServedWebhook>();
  let listed = await appliedStates.listFactories();

  const scan = async () => {
    let changed = false;
    // If the factories cannot be listed, the known ones are loaded; loading them reports the problem.
    listed = await appliedStates.listFactories().catch(() => listed);
    for (const factory of new Set([...factories.keys(), ...listed])) {
      const before = factories.get(factory);
      const now = await load(factory, before, options);
      if (!now || now === before) continue;
      factories.set(factory, now);
      changed = true;
      (now.status.problem ? options.onProblem : options.onLoaded)(now.status);
    }
    if (changed) index = indexByUid(factories.values());
  };
  const rescan = singleFlight(scan);
  await rescan();
  const watch = await appliedStates.watch(rescan);
  await rescan();

  return {
    findWebhook: uid => index.get(uid),
    findState: factory => factories.get(factory)?.state,
    refresh: rescan,
    status: () => [...factories.values()].map(({ status }) => status),
    close: () => watch.close(),
  };
}

/** Loads the factory's current state. Returns `before` if nothing changed, undefined if there never was a state. */
async function load(
  factory: string,
  before: Loaded | undefined,
  { store: { appliedStates, seal } }: ServedStatesOptions,
): Promise<Loaded | undefined> {
  const version = await appliedStates.readVersion(factory);
  // The cause of a problem may lie outside the state, such as a missing key, so a broken state is always read again.
  if (before && version === before.version && !before.status.problem) return before;
  if (version === undefined && !before) return undefined;
  try {
    const state = await appliedStates.read(factory);
    if (state.serial === 0) throw new Error('the applied state is missing');
    if (state.factory !== factory)
      throw new Error(`the applied state belongs to the factory ${state.factory}`);
    const webhooks = await prepareWebhooks(state, seal);
    return { version, state, webhooks, status: { factory, serial: state.serial, webhooks: webhooks.length } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (before && version === before.version && message === before.status.problem?.message) return before;
    const since = new Date().toISOString();
    const status = { factory, serial: before?.status.serial ?? 0, webhooks: before?.webhooks.length ?? 0 };
    const { state, webhooks = [] } = before ?? {};
    return { version, state, webhooks, status: { ...status, problem: { message, since } } };
  }
}

function indexByUid(factories: Iterable<Loaded>): Map<string, ServedWebhook> {
  const webhooks = [...factories].flatMap(factory => factory.webhooks);
  return new Map(webhooks.map(webhook => [webhook.uid, webhook]));
}

/** Runs `work` once at a time; calls during a run share one more run after it, so that no change is missed. */
function singleFlight(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = () => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(start);
    return next;
  };
}
