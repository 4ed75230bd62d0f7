import type { AppliedState } from '../../schema/applied-state.ts';
import type { Store } from '../../store/ports.ts';
import { type ServedWebhook, serveWebhooks } from './served-webhooks.ts';

/** A factory as it is served. With a `problem`, the last good state is still served. */
export interface ServedFactory {
  readonly factory: string;
  readonly serial: number;
  readonly webhooks: number;
  readonly problem?: { readonly message: string; readonly since: string };
}

export interface ServedStates {
  findWebhook(uid: string): ServedWebhook | undefined;
  /** The applied state that is served of a factory; undefined if none ever was. */
  findState(factory: string): AppliedState | undefined;
  /** Resolves when everything that was stored at the call is served. */
  refresh(): Promise<void>;
  status(): ServedFactory[];
  close(): Promise<void>;
}

export interface ServedStatesOptions {
  readonly store: Pick<Store, 'appliedStates' | 'seal'>;
  readonly onLoaded: (status: ServedFactory) => void;
  readonly onProblem: (status: ServedFactory) => void;
}

interface Loaded {
  /** Identifies what is stored without reading it. */
  readonly version: string | undefined;
  readonly status: ServedFactory;
  readonly state: AppliedState | undefined;
  readonly webhooks: readonly ServedWebhook[];
}

/**
 * Serves the applied states of all factories and follows them as they change. A factory's webhooks are swapped as
 * a whole; a state that cannot be read leaves the last good one in place. Resolves when all are loaded once.
 */
export async function serveAppliedStates(options: ServedStatesOptions): Promise<ServedStates> {
  const { appliedStates } = options.store;
  const factories = new Map<string, Loaded>();
  let index = new Map<string, ServedWebhook>();
  let listed = await appliedStates.listFactories();

  const scan = async () => {
    let changed = false;
    // While the factories cannot be listed, the problem is reported of each known one.
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

/** The factory's state as it is now: `before` itself if nothing changed, undefined if there never was one. */
async function load(
  factory: string,
  before: Loaded | undefined,
  { store: { appliedStates, seal } }: ServedStatesOptions,
): Promise<Loaded | undefined> {
  const version = await appliedStates.readVersion(factory);
  // The problem may lie outside the state, as a missing key does: then it is tried again.
  if (before && version === before.version && !before.status.problem) return before;
  if (version === undefined && !before) return undefined;
  try {
    const state = await appliedStates.read(factory);
    if (state.serial === 0) throw new Error('the applied state is gone');
    if (state.factory !== factory) throw new Error(`it is the applied state of the factory ${state.factory}`);
    const webhooks = await serveWebhooks(state, seal);
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

/** Runs `work` one at a time; calls that arrive meanwhile share one more run, so that none is missed. */
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
