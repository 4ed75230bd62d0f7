import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { setReceivers } from '../../operations/attention/alerts.ts';
import {
  type AutomationOfFactory,
  findFailingReconcile,
  findLongPauses,
  findRunProblems,
  findUnapproved,
} from '../../operations/attention/find-problems.ts';
import {
  type AlertTargets,
  addNotices,
  type Finding,
  followEpisodes,
  type RunNotice,
} from '../../operations/attention/follow-episodes.ts';
import { renderRunEnd } from '../../operations/attention/render-alert.ts';
import type { AlertType } from '../../schema/alerts.ts';
import { LooksInTurns } from '../../schema/quota.ts';
import {
  type AlertState,
  type Alerts,
  type KnownReceiver,
  openMemoryAlerts,
} from '../../store/ports/alerts.ts';
import type { DeliveryLog, EndToTell } from '../../store/ports/delivery-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { doInTurn, oneAtATime, untilAborted } from '../background-work.ts';
import type { OperationsThread } from '../operations-thread/operations-thread.ts';
import type { ServedStates } from '../served/served-states.ts';
import type { DaemonSettings } from '../settings.ts';
import { describeReceiver, nameReceiver } from './alert-settings.ts';
import { type SendingDeps, sendMessages } from './send-messages.ts';

/** @limit Time between two looks for what alerts tell and for messages to send, in ms. */
const lookEveryMs = 5_000;
/** @limit Ends of runs of which receivers are told together: the others follow with the next look. */
const endsMax = 100;
/** @limit Time for which the end of a run is kept if no receivers are known, in ms: a daemon that has some is started by then. */
const untoldMs = 10 * 60_000;
/** @limit Automations whose runs have failed, and automations with an open alert, that are looked at together. */
const automationsMax = 100;
/** @limit Time between two looks for what webhooks have missed, in ms: a provider is asked about every ten minutes. */
const missedEveryMs = 15_000;

export interface AlertsOptions {
  readonly store: Pick<Store, 'alerts' | 'teamSecrets' | 'reconcileStatuses' | 'deliveries' | 'replicas'>;
  readonly deliveryLog: Pick<DeliveryLog, 'describeTrouble' | 'forgetFailures' | 'forgetEnds'>;
  readonly settings: Pick<DaemonSettings, 'alerts' | 'repositories'>;
  readonly targets: AlertTargets;
  readonly thread: Pick<OperationsThread, 'run'>;
  readonly served: Pick<ServedStates, 'listSenders'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
}

export interface AlertsTask {
  /** The number of open alerts that a factory has used its share of something, as last seen. */
  countFull(): number;
  /** Looks now, and sends the messages that are due. Does nothing after a stop. */
  wake(): void;
  /** Ends requests to receivers, and resolves when nothing more is done. */
  stop(): Promise<void>;
}

/**
 * Finds what is wrong besides the health of webhooks, and sends the messages of all episodes. It looks at the failures
 * that the log has noted, so a daemon also tells what happened before its start, or in another daemon. Only that the log
 * cannot be written is told from memory, because the store may be what cannot be written.
 */
export function startAlerts(options: AlertsOptions): AlertsTask {
  const { log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const memory = openMemoryAlerts();
  const sending: SendingDeps = { ...options, ...openSending(options), signal };
  const full = watchFull(log);
  const once = (work: () => Promise<unknown>) =>
    oneAtATime(async () => {
      // The store may be closed already.
      if (!signal.aborted) await work().catch(err => log.warn({ err }, 'cannot look after alerts yet'));
    });
  const sendOwn = once(() => sendMessages(memory, sending));
  const { alerts, replicas } = options.store;
  const sendShared = once(async () => {
    // Another daemon may have the receivers that the messages are for.
    if (replicas && options.targets.receivers.length === 0) return;
    await doInTurn(replicas, 'alert-messages', 0, lost =>
      sendMessages(alerts, { ...sending, signal: AbortSignal.any([signal, lost]) }),
    );
  });
  const pass = preparePass(options, memory, signal);
  const passOnce = once(async () => {
    await pass(() => void sendOwn()).finally(() => void sendShared());
    full.look(await alerts.read());
  });
  const timer = setInterval(passOnce, lookEveryMs).unref();
  return {
    wake: () => void passOnce(),
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await Promise.all([passOnce(), sendOwn(), sendShared()]);
    },
    countFull: full.count,
  };
}

/** Says once in the log of each alert about a full quota that it is open. */
function watchFull(log: Logger) {
  let known: ReadonlySet<string> = new Set();
  return {
    count: () => known.size,
    look: ({ episodes }: AlertState) => {
      const full = episodes.filter(({ type }) => type === 'quota.full');
      for (const { id, factory, reason } of full) {
        if (!known.has(id)) log.warn({ factory, reason }, 'a factory has used its share');
      }
      known = new Set(full.map(({ id }) => id));
    },
  };
}

/** Prepares a look at everything that alerts tell. `onOwn` is called after the look at the daemon itself. */
function preparePass(
  options: AlertsOptions,
  memory: Alerts,
  signal: AbortSignal,
): (onOwn: () => void) => Promise<void> {
  const { store, deliveryLog, nowMs } = options;
  const startedMs = nowMs();
  let isKnown = false;
  const look = new LooksInTurns(automationsMax);
  const findOwnTrouble = prepareOwnTrouble(options);
  const findMissed = prepareMissed(options, signal);
  return async onOwn => {
    await follow(memory, [findOwnTrouble()], options);
    onOwn();
    if (!isKnown) await keepReceivers(options, startedMs);
    isKnown = true;
    // A replica without receivers cannot do it for one with receivers.
    const turn = options.targets.receivers.length > 0 ? 'alerts' : 'alerts-unheard';
    await doInTurn(store.replicas, turn, lookEveryMs, async () => {
      const failed = await store.deliveries.listFailedAutomations(automationsMax);
      await follow(store.alerts, await findShared(options, failed, look), options);
      await follow(store.alerts, await findMissed(), options);
      // Only now, so that whoever runs next looks at a failure whose episode is not stored.
      if (failed.length > 0) await deliveryLog.forgetFailures(failed.map(({ failure }) => failure));
      while (!signal.aborted && (await tellEnds(options)) === endsMax);
    });
  };
}

/** Lets lists show the receivers. A replica without receivers leaves those of the others. */
async function keepReceivers({ store, settings }: AlertsOptions, sinceMs: number): Promise<void> {
  const receivers = settings.alerts.map(describeReceiver);
  if (receivers.length === 0 && store.replicas) return;
  // Looking needs no lock.
  const state = await store.alerts.read();
  if (setReceivers(state, receivers, sinceMs) === state) return;
  await store.alerts.change(state => setReceivers(state, receivers, sinceMs));
}

/**
 * Adds messages about the ends of runs, as far as there is room. Returns how many ends were forgotten, because they are told
 * or nobody is told of them.
 */
async function tellEnds(options: AlertsOptions): Promise<number> {
  const { store, deliveryLog, targets, nowMs } = options;
  const ends = await store.deliveries.listEndsToTell(endsMax);
  if (ends.length === 0) return 0;
  const before = await store.alerts.read();
  const { receivers: known } = before;
  // Another daemon has receivers, and tells soon.
  const isOthers = targets.receivers.length === 0 && known.length > 0;
  const untold = ends.filter(
    ({ finishedAtMs }) => isOthers && nowMs() - (finishedAtMs ?? nowMs()) < untoldMs,
  );
  const notices = isOthers ? [] : await makeNotices(ends, known, options);
  const add = (state: AlertState) => addNotices(state, notices, { ...targets, randomBytes, nowMs: nowMs() });
  let { state, taken } = add(before);
  // Looking needs no lock: the ends may wait for room.
  if (state !== before)
    await store.alerts.change(current => {
      ({ state, taken } = add(current));
      return state;
    });
  const waiting = new Set(
    [...untold, ...notices.filter(notice => !taken.includes(notice))].map(({ seq }) => seq),
  );
  const told = ends.map(({ seq }) => seq).filter(seq => !waiting.has(seq));
  // Only now, so that whoever runs next tells of ends whose messages are not stored.
  return told.length > 0 ? deliveryLog.forgetEnds(told) : 0;
}

/** Makes the messages of ends of which receivers are to be told. PagerDuty is for what somebody must repair. */
async function makeNotices(
  ends: readonly EndToTell[],
  known: readonly KnownReceiver[],
  { store, settings, targets, nowMs }: AlertsOptions,
): Promise<RunNotice[]> {
  const since = new Map(known.map(({ name, sinceMs }) => [name, sinceMs]));
  const listeners = settings.alerts
    .filter(({ format }) => format !== 'pagerduty')
    .map(nameReceiver)
    .map(name => ({ name, sinceMs: since.get(name) ?? 0 }));
  const notices = ends.map(async ({ seq, run: id, state, finishedAtMs }): Promise<RunNotice[]> => {
    const told = listeners.filter(({ sinceMs }) => sinceMs <= (finishedAtMs ?? sinceMs));
    const run = told.length > 0 ? await store.deliveries.findRun(id) : undefined;
    if (!run) return [];
    const body = renderRunEnd(run, state, { nowMs: nowMs(), dashboardUrl: targets.dashboardUrl });
    return [{ run: id, seq, factory: run.factory, receivers: told.map(({ name }) => name), body }];
  });
  return (await Promise.all(notices)).flat();
}

async function follow(alerts: Alerts, findings: readonly Finding[], options: AlertsOptions): Promise<void> {
  const { targets, nowMs } = options;
  const context = { ...targets, randomBytes, nowMs: nowMs() };
  const state = await alerts.read();
  // Looking needs no lock, and there is rarely something to change.
  if (followEpisodes(state, findings, context) === state) return;
  await alerts.change(current => followEpisodes(current, findings, context));
}

/** Finds what is wrong with automations that have failed, or have an open episode, and with branches: for all daemons. */
async function findShared(
  { store, settings, nowMs }: AlertsOptions,
  failed: readonly AutomationOfFactory[],
  look: LooksInTurns,
): Promise<Finding[]> {
  const { episodes } = await store.alerts.read();
  const listWatched = (isMeant: (type: AlertType) => boolean) =>
    episodes
      .filter(({ type }) => isMeant(type))
      .map(({ factory, subject: automation }): AutomationOfFactory => ({ factory, automation }));
  const open = listWatched(type => type.startsWith('runs.') && type !== 'runs.unapproved');
  const watched = look.take(open, ({ factory }) => factory);
  const pauses = findLongPauses(
    store.deliveries,
    listWatched(type => type === 'automation.paused'),
    nowMs(),
  );
  const unapproved = findUnapproved(
    store.deliveries,
    listWatched(type => type === 'runs.unapproved'),
  );
  const byName = new Map([...failed, ...watched].map(of => [`${of.factory}/${of.automation}`, of]));
  const runs = [...byName.values()].map(of => findRunProblems(store.deliveries, of, nowMs()));
  const branches = settings.repositories.map(async ({ factory }) => [
    await findFailingReconcile(store.reconcileStatuses, factory, nowMs()),
  ]);
  return (await Promise.all([...runs, pauses, unapproved, ...branches])).flat();
}

/**
 * Finds what webhooks have missed, from time to time and only if one has a sender. The operations thread reads what is stored
 * of that, because it may be long.
 */
function prepareMissed(
  { store, thread, served, log, nowMs }: AlertsOptions,
  signal: AbortSignal,
): () => Promise<readonly Finding[]> {
  let nextAtMs = -Infinity;
  return async () => {
    const now = nowMs();
    if (now < nextAtMs && nextAtMs - now <= missedEveryMs) return [];
    nextAtMs = now + missedEveryMs;
    const factories = [...new Set(served.listSenders().map(({ factory }) => factory))];
    const open = (await store.alerts.read()).episodes.filter(({ type }) => type === 'webhook.missed');
    if (factories.length + open.length === 0) return [];
    const watched = open.map(({ factory, subject: uid, name }) => ({ factory, uid, name }));
    const found = thread.run('findMissed', { factories, watched, nowMs: now });
    const missed = await untilAborted(found, signal).catch(err => {
      log.warn({ err }, 'cannot look for what webhooks have missed yet');
      return [];
    });
    return missed ?? [];
  };
}

/** Says whether this daemon's log can be written, and since when it cannot. */
function prepareOwnTrouble({ deliveryLog, nowMs }: AlertsOptions): () => Finding {
  let sinceMs: number | undefined;
  return () => {
    const reason = deliveryLog.describeTrouble();
    sinceMs = reason === undefined ? undefined : (sinceMs ?? nowMs());
    const problem = reason === undefined || sinceMs === undefined ? null : { reason, sinceMs };
    return { type: 'log.unwritable', factory: '', subject: '', name: '', problem };
  };
}

function openSending({ store, settings }: AlertsOptions): Pick<SendingDeps, 'receivers' | 'openSecret'> {
  const known = new Map<string, string>();
  const openSecret = async (name: string) => {
    // While the value cannot be read, the last one signs.
    const opened = await store.teamSecrets.open([name]).catch(() => undefined);
    const secret = opened?.get(name);
    const value = secret?.value?.text;
    if (opened && value === undefined && !secret?.unresolved) known.delete(name);
    if (value !== undefined) known.set(name, value);
    return known.get(name);
  };
  // A daemon that has never sent anything can then sign, too.
  for (const { secret } of settings.alerts) void openSecret(secret);
  return { receivers: settings.alerts, openSecret };
}
