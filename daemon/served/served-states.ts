import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { watch } from 'chokidar';
import { type AppliedState, appliedStateShape } from '../../schema/applied-state.ts';
import { fileVersion } from '../../store/embedded/files/file-version.ts';
import {
  appliedStateFile,
  type Home,
  listFactories,
  makePrivateDirectory,
} from '../../store/embedded/files/home.ts';
import { parseJsonFile } from '../../store/embedded/files/json-file.ts';
import type { Seal } from '../../store/sealing.ts';
import { type ServedWebhook, serveWebhooks } from './served-webhooks.ts';

// What chokidar cannot see: network file systems, a directory that was swapped for another.
const rescanMs = 2_000;

/** What is served of a factory. With a `problem`, the last good state is still served. */
export interface FactoryStatus {
  readonly factory: string;
  readonly serial: number;
  readonly webhooks: number;
  readonly problem?: { readonly message: string; readonly since: string };
}

export interface AppliedStates {
  findWebhook(uid: string): ServedWebhook | undefined;
  /** The applied state that is served of a factory; undefined if none ever was. */
  findState(factory: string): AppliedState | undefined;
  /** Resolves when all that was on disk when it was called is served. */
  refresh(): Promise<void>;
  status(): FactoryStatus[];
  close(): Promise<void>;
}

export interface AppliedStatesOptions {
  readonly home: Home;
  readonly seal: Seal;
  readonly onLoaded: (status: FactoryStatus) => void;
  readonly onProblem: (status: FactoryStatus) => void;
}

interface Loaded {
  /** Identifies the file's content without reading it. */
  readonly version: string;
  readonly status: FactoryStatus;
  readonly state: AppliedState | undefined;
  readonly webhooks: readonly ServedWebhook[];
}

/**
 * Serves the applied states of all factories of the home and follows them as they change. A factory's webhooks are
 * swapped whole; a state that cannot be read leaves the last good one in place. Resolves when all are loaded once.
 */
export async function followAppliedStates(options: AppliedStatesOptions): Promise<AppliedStates> {
  const { home } = options;
  await makePrivateDirectory(home.factoriesDirectory);
  const factories = new Map<string, Loaded>();
  let index = new Map<string, ServedWebhook>();
  let listed = await listFactories(home);

  const scan = async () => {
    let changed = false;
    // While the directory cannot be listed, the problem is reported of each factory that is known.
    listed = await listFactories(home).catch(() => listed);
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

  const watcher = watch(home.factoriesDirectory, {
    ignoreInitial: true,
    depth: 1,
    atomic: false,
    ignored: path => /\.(tmp$|lock)/.test(basename(path)),
  });
  watcher.on('all', rescan).on('raw', rescan).on('error', rescan);
  await new Promise<void>(resolve => watcher.once('ready', resolve));
  const timer = setInterval(rescan, rescanMs);
  await rescan();

  return {
    findWebhook: uid => index.get(uid),
    findState: factory => factories.get(factory)?.state,
    refresh: rescan,
    status: () => [...factories.values()].map(({ status }) => status),
    close: async () => {
      clearInterval(timer);
      await watcher.close();
    },
  };
}

/** The factory's state as it is now: `before` itself if nothing changed, undefined if there never was one. */
async function load(
  factory: string,
  before: Loaded | undefined,
  { home, seal }: AppliedStatesOptions,
): Promise<Loaded | undefined> {
  const file = appliedStateFile(home, factory);
  const version = await fileVersion(file);
  // What went wrong may lie outside the file, as a missing key does: that is tried again.
  if (version === before?.version && !before.status.problem) return before;
  if (version === 'missing' && !before) return before;
  try {
    const state = parseJsonFile(file, await readFile(file, 'utf8'), appliedStateShape);
    if (state.factory !== factory) throw new Error(`it is the applied state of the factory ${state.factory}`);
    const webhooks = await serveWebhooks(state, seal);
    return { version, state, webhooks, status: { factory, serial: state.serial, webhooks: webhooks.length } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (version === before?.version && message === before.status.problem?.message) return before;
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
