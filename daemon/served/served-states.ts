import type { FactoryView } from '../../operations/views/applied-views.ts';
import type { Store } from '../../store/ports.ts';
import type { LoadedState } from './loaded-state.ts';
import type { ServedFactories, ServedFactory } from './served-factories.ts';
import type { ServedWebhook } from './served-webhook.ts';
import { prepareWebhooks } from './served-webhooks.ts';

export interface ServedStates extends ServedFactories {
  findWebhook(uid: string): ServedWebhook | undefined;
  /** Whether a webhook that cannot be served now has this UID, or may have it. */
  isUnserved(uid: string): boolean;
  /** Why some webhooks cannot be served; undefined if there are none. */
  describeUnserved(): string | undefined;
  close(): Promise<void>;
}

export interface ServedStatesOptions {
  readonly store: Pick<Store, 'appliedStates' | 'seal'>;
  /** Loads the stored state of a factory, where that does not delay deliveries. */
  readonly loadState: (factory: string) => Promise<LoadedState>;
  readonly onLoaded: (status: ServedFactory) => void;
  readonly onProblem: (status: ServedFactory) => void;
}

interface Loaded {
  /** The version of the stored state, which is known without reading the state. */
  readonly version: string | undefined;
  readonly status: ServedFactory;
  readonly view: FactoryView | undefined;
  readonly webhooks: readonly ServedWebhook[];
  /** The UIDs of the webhooks that cannot be served; undefined if the state cannot be read, so that none is known. */
  readonly unservedUids: readonly string[] | undefined;
}

/**
 * Serves the applied states of all factories and follows their changes. All webhooks of a factory change together.
 * While a state cannot be served, the last good one is. Without one, those webhooks are served that can be.
 * Resolves when every factory was loaded once.
 */
export async function serveAppliedStates(options: ServedStatesOptions): Promise<ServedStates> {
  const { appliedStates } = options.store;
  const factories = new Map<string, Loaded>();
  let index = new Map<string, ServedWebhook>();
  let unservedUids = new Set<string>();
  let isAnyUnknown = false;
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
    if (!changed) return;
    const loaded = [...factories.values()];
    index = indexByUid(loaded);
    unservedUids = new Set(loaded.flatMap(factory => factory.unservedUids ?? []));
    isAnyUnknown = loaded.some(factory => factory.unservedUids === undefined);
  };
  const rescan = singleFlight(scan);
  await rescan();
  const watch = await appliedStates.watch(rescan);
  await rescan();

  return {
    findWebhook: uid => index.get(uid),
    isUnserved: uid => !index.has(uid) && (isAnyUnknown || unservedUids.has(uid)),
    describeUnserved: () => {
      const { status } = [...factories.values()].find(factory => !isComplete(factory)) ?? {};
      return status && `the factory ${status.factory} cannot be served: ${status.problem?.message}`;
    },
    findView: factory => factories.get(factory)?.view,
    refresh: rescan,
    status: () => [...factories.values()].map(({ status }) => status),
    close: () => watch.close(),
  };
}

/** Loads the factory's current state. Returns `before` if nothing changed, undefined if there never was a state. */
async function load(
  factory: string,
  before: Loaded | undefined,
  { store: { appliedStates, seal }, loadState }: ServedStatesOptions,
): Promise<Loaded | undefined> {
  const version = await appliedStates.readVersion(factory);
  // The cause of a problem may lie outside the state, such as a missing key, so a broken state is always read again.
  if (before && version === before.version && !before.status.problem) return before;
  if (version === undefined && !before) return undefined;
  try {
    const loaded = await loadState(factory);
    const { webhooks, unserved } = await prepareWebhooks(loaded, seal);
    const [failure] = unserved.values();
    if (failure !== undefined && before && isComplete(before)) throw failure;
    const unservedUids = [...unserved.keys()];
    const { view } = loaded;
    const status = { factory, serial: view.serial, webhooks: webhooks.length };
    if (failure === undefined) return { version, view, webhooks, unservedUids, status };
    const problem = { message: toMessage(failure), since: new Date().toISOString() };
    if (before && version === before.version && problem.message === before.status.problem?.message)
      return before;
    return { version, view, webhooks, unservedUids, status: { ...status, problem } };
  } catch (error) {
    const message = toMessage(error);
    if (before && version === before.version && message === before.status.problem?.message) return before;
    const since = new Date().toISOString();
    const status = { factory, serial: before?.status.serial ?? 0, webhooks: before?.webhooks.length ?? 0 };
    const { view, webhooks = [], unservedUids } = before ?? {};
    return { version, view, webhooks, unservedUids, status: { ...status, problem: { message, since } } };
  }
}

/** Whether every webhook of the factory is served, maybe from its last good state. */
function isComplete({ unservedUids }: Loaded): boolean {
  return unservedUids?.length === 0;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
