import { setImmediate } from 'node:timers/promises';
import type { FactoryView } from '../../operations/views/applied-views.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Unparsed } from '../../store/ports/documents.ts';
import type { Store } from '../../store/ports/store.ts';
import type { TokenDeps } from '../authentication/authenticator.ts';
import { oneAtATime } from '../background-work.ts';
import type { IssuerKeys } from '../issuers/issuer-keys.ts';
import { findMeant, type MeantWebhook, SimilarUids } from './find-meant.ts';
import { type LoadedState, loadState } from './loaded-state.ts';
import type { ServedFactories, ServedFactory } from './served-factories.ts';
import type { ServedWebhook } from './served-webhook.ts';
import { findWebhook, prepareWebhooks, type ServedWebhooks } from './served-webhooks.ts';

export interface ServedStates extends ServedFactories {
  findWebhook(uid: string): ServedWebhook | undefined;
  /** Whether a webhook that cannot be served now has this UID, or may have it. */
  isUnserved(uid: string): boolean;
  /** See `findMeant`. */
  findMeant(path: string): MeantWebhook | 'nobody' | undefined;
  /** Why some webhooks cannot be served; undefined if there are none. */
  describeUnserved(): string | undefined;
  /** The enabled webhooks whose providers can be asked about them. */
  listSenders(): SenderOfFactory[];
  close(): Promise<void>;
}

export interface SenderOfFactory {
  readonly factory: string;
  readonly uid: string;
}

export interface ServedStatesOptions {
  readonly store: Pick<Store, 'appliedStates' | 'seal'>;
  /** Loads a large state after the start, where that does not delay deliveries. */
  readonly loadState: (factory: string) => Promise<LoadedState>;
  /** Verifies the tokens of issuers, and follows the issuers that webhooks name. Without it, no webhook may name one. */
  readonly tokens?: TokenDeps & { readonly keys: Pick<IssuerKeys, 'follow'> };
  readonly onLoaded: (status: ServedFactory) => void;
  readonly onProblem: (status: ServedFactory) => void;
  /** Called when it cannot be seen whether something has changed. The next look sees it. */
  readonly onFailure: (error: unknown) => void;
}

interface Loaded {
  /** The version of the stored state, which is known without reading the state. */
  readonly version: string | undefined;
  readonly status: ServedFactory;
  readonly view: FactoryView | undefined;
  readonly webhooks: ServedWebhooks | undefined;
  /** The UIDs of the webhooks that cannot be served; undefined if the state cannot be read, so that none is known. */
  readonly unservedUids: readonly string[] | undefined;
  readonly disabledUids: readonly string[];
  readonly senders: readonly string[];
}

/** @limit Factories that are looked at together: reading the state of one takes longer for the disk than for the processor. */
const looksMax = 8;

/** @limit Length of a changed state that the thread of the ingress loads itself: it takes a millisecond or two. */
const ownSizeMax = 32 * 1024;
/** @limit States whose credentials are opened with one read of the keys. */
const statesMax = 32;

/**
 * Serves the applied states of all factories and follows their changes. All webhooks of a factory change together.
 * While a state cannot be served, the last good one is. Without one, those webhooks are served that can be.
 * Resolves when every factory was loaded once.
 */
export async function serveAppliedStates(options: ServedStatesOptions): Promise<ServedStates> {
  const { appliedStates } = options.store;
  const factories = new Map<string, Loaded>();
  const index = createUidIndex();
  /** The factories that may have changed, and all those that are looked at after them. */
  const [changed, others] = [new Set<string>(), new Set<string>()];
  let isAnyChanged = false;
  let listed: readonly string[] = await appliedStates.listFactories();

  const serve = async (stored: StoredVersion, loadState: () => Promise<LoadedState>) => {
    const before = factories.get(stored.factory);
    const now = await load(stored, before, loadState, options.tokens);
    if (!now || now === before) return;
    factories.set(stored.factory, now);
    index.replace(before, now);
    (now.status.problem ? options.onProblem : options.onLoaded)(now.status);
  };
  const look = async (factory: string) => {
    const version = await appliedStates.readVersion(factory);
    await serve({ factory, version }, () => loadChanged(factory, options));
  };
  const scan = async () => {
    if (isAnyChanged) {
      isAnyChanged = false;
      // While nothing is served, no delivery waits for anything.
      if (factories.size > 0 || !(await serveAll(options.store, serve))) {
        // If the factories cannot be listed, the known ones are loaded; loading them reports the problem.
        listed = await appliedStates.listFactories().catch(() => listed);
        for (const factory of [...factories.keys(), ...listed]) others.add(factory);
      }
    }
    while (changed.size + others.size > 0) {
      await allEnded(take(changed.size > 0 ? changed : others, looksMax).map(look));
    }
  };
  const rescan = oneAtATime(scan);
  const onChange = (factory?: string) => {
    if (factory === undefined) isAnyChanged = true;
    else changed.add(factory);
    return rescan();
  };
  const follow = (factory?: string) =>
    onChange(factory).catch((error: unknown) => {
      isAnyChanged = true;
      options.onFailure(error);
    });
  const watch = await appliedStates.watch(follow);
  await onChange();
  return {
    findWebhook: index.find,
    isUnserved: index.isUnserved,
    findMeant: path => findMeant(path, index),
    describeUnserved: () => describeUnserved(factories),
    findView: factory => factories.get(factory)?.view,
    refresh: follow,
    status: () => [...factories.values()].map(({ status }) => status),
    listSenders: () => listSenders(factories),
    close: () => watch.close(),
  };
}

function listSenders(factories: ReadonlyMap<string, Loaded>): SenderOfFactory[] {
  return [...factories].flatMap(([factory, { senders }]) => senders.map(uid => ({ factory, uid })));
}

function describeUnserved(factories: ReadonlyMap<string, Loaded>): string | undefined {
  const { status } = [...factories.values()].find(factory => !isComplete(factory)) ?? {};
  return status && `the factory ${status.factory} cannot be served: ${status.problem?.message}`;
}

interface StoredVersion extends Pick<Unparsed<unknown>, 'version'> {
  readonly factory: string;
}

/** Loads a small state here, because to hand it to a thread and back would take about as long. */
async function loadChanged(
  factory: string,
  { store: { appliedStates, seal }, loadState: loadElsewhere }: ServedStatesOptions,
): Promise<LoadedState> {
  for await (const { size, parse } of appliedStates.readEach([factory]))
    if (size <= ownSizeMax) return loadState(parse(), await seal.opener(), factory);
  return loadElsewhere(factory);
}

/** Passes all stored states to `serve`. Returns whether none was left out. */
async function serveAll(
  { appliedStates, seal }: ServedStatesOptions['store'],
  serve: (stored: StoredVersion, loadState: () => Promise<LoadedState>) => Promise<void>,
): Promise<boolean> {
  const waiting: (StoredVersion & Unparsed<AppliedState>)[] = [];
  const serveWaiting = async () => {
    // The keys are read after the states that they open, because a state may have been sealed again.
    const open = await seal.opener();
    for (const stored of waiting.splice(0)) {
      await serve(stored, async () => loadState(stored.parse(), open, stored.factory));
    }
    // A signal may want to stop the start.
    await setImmediate();
  };
  try {
    for await (const stored of appliedStates.readEach()) {
      if (waiting.push(stored) === statesMax) await serveWaiting();
    }
    await serveWaiting();
    return true;
  } catch {
    return false;
  }
}

/** Loads the factory's current state. Returns `before` if nothing changed, undefined if there never was a state. */
async function load(
  { factory, version }: StoredVersion,
  before: Loaded | undefined,
  loadState: () => Promise<LoadedState>,
  tokens: ServedStatesOptions['tokens'],
): Promise<Loaded | undefined> {
  // The cause of a problem may lie outside the state, such as a missing key, so a broken state is always read again.
  if (before && version === before.version && !before.status.problem) return before;
  if (version === undefined && !before) return undefined;
  try {
    const loaded = await loadState();
    tokens?.keys.follow(factory, loaded.issuers);
    const [failure] = loaded.unserved.values();
    if (failure !== undefined && before && isComplete(before)) throw new Error(failure);
    const webhooks = await prepareWebhooks(loaded, tokens);
    const unservedUids = [...loaded.unserved.keys()];
    const { view, automations, senders, disabled: disabledUids } = loaded;
    const status = { factory, serial: view.serial, webhooks: loaded.webhooks.uids.length, automations };
    if (failure === undefined)
      return { version, view, webhooks, unservedUids, disabledUids, senders, status };
    const problem = { message: failure, since: new Date().toISOString() };
    if (before && version === before.version && problem.message === before.status.problem?.message)
      return before;
    return { version, view, webhooks, unservedUids, disabledUids, senders, status: { ...status, problem } };
  } catch (error) {
    const message = toMessage(error);
    if (before && version === before.version && message === before.status.problem?.message) return before;
    const since = new Date().toISOString();
    const status = before?.status ?? { factory, serial: 0, webhooks: 0, automations: [] };
    const { view, webhooks, unservedUids, disabledUids = [], senders = [] } = before ?? {};
    const problem = { message, since };
    return { version, view, webhooks, unservedUids, disabledUids, senders, status: { ...status, problem } };
  }
}

/** Whether every webhook of the factory is served, maybe from its last good state. */
function isComplete({ unservedUids }: Loaded): boolean {
  return unservedUids?.length === 0;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Waits for all work, also if some of it fails: what is still done must not overlap with what follows. Rejects as the first that failed. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Removes and returns the first elements of a set. */
function take<T>(elements: Set<T>, max: number): T[] {
  const taken: T[] = [];
  for (const element of elements) {
    if (taken.length === max) break;
    elements.delete(element);
    taken.push(element);
  }
  return taken;
}

/** The webhooks of all factories by their UIDs. */
function createUidIndex() {
  const webhooks = new Map<string, ServedWebhooks>();
  /** The webhooks that are not served. */
  const others = new Map<string, { readonly factory: string; readonly isDisabled: boolean }>();
  const similar = new SimilarUids();
  let unknownFactories = 0;
  return {
    find: (uid: string) => {
      const among = webhooks.get(uid);
      return among && findWebhook(among, uid);
    },
    findFactory: (uid: string) => (webhooks.get(uid) ?? others.get(uid))?.factory,
    findSimilar: (text: string) => similar.find(text),
    isUnserved: (uid: string) =>
      !webhooks.has(uid) && (unknownFactories > 0 || others.get(uid)?.isDisabled === false),
    /** Replaces the webhooks of one factory synchronously, so that no delivery sees half of them. */
    replace: (before: Loaded | undefined, now: Loaded) => {
      for (const uid of listUids(before)) {
        webhooks.delete(uid);
        others.delete(uid);
        similar.delete(uid);
      }
      if (before && !before.unservedUids) unknownFactories -= 1;
      const { factory } = now.status;
      if (now.webhooks) for (const uid of now.webhooks.webhooks.uids) webhooks.set(uid, now.webhooks);
      for (const uid of now.unservedUids ?? []) others.set(uid, { factory, isDisabled: false });
      for (const uid of now.disabledUids) others.set(uid, { factory, isDisabled: true });
      for (const uid of listUids(now)) similar.add(uid);
      if (!now.unservedUids) unknownFactories += 1;
    },
  };
}

function* listUids(loaded: Loaded | undefined): Generator<string> {
  yield* loaded?.webhooks?.webhooks.uids ?? [];
  yield* loaded?.unservedUids ?? [];
  yield* loaded?.disabledUids ?? [];
}
