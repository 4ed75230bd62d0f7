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
import { type Alerts, openMemoryAlerts } from '../../store/ports/alerts.ts';
import type { DeliveryLog } from '../../store/ports/delivery-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { doInTurn, MovingLook, oneAtATime, untilAborted } from '../background-work.ts';
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
  const pass = preparePass(options, stopping.signal);
  const passOnce = oneAtATime(async () => {
    // The store may be closed already.
    if (stopping.signal.aborted) return;
    await pass().catch(err => log.warn({ err }, 'cannot look after alerts yet'));
  });
  const timer = setInterval(passOnce, lookEveryMs).unref();
  return {
    wake: () => void passOnce(),
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await passOnce();
    },
  };
}

/** Prepares a look at everything that alerts tell, which also sends the messages that are due. */
function preparePass(options: AlertsOptions, signal: AbortSignal): () => Promise<void> {
  const { store, deliveryLog } = options;
  const memory = openMemoryAlerts();
  let isKnown = false;
  const look = new MovingLook(automationsMax);
  const sending: SendingDeps = { ...options, ...openSending(options), signal };
  const findOwnTrouble = prepareOwnTrouble(options);
  const findMissed = prepareMissed(options, signal);
  return async () => {
    await follow(memory, [findOwnTrouble()], options);
    await sendMessages(memory, sending);
    if (!isKnown) await keepReceivers(options);
    isKnown = true;
    // A replica without receivers cannot do it for one with receivers.
    const turn = options.targets.receivers.length > 0 ? 'alerts' : 'alerts-unheard';
    await doInTurn(store.replicas, turn, lookEveryMs, async () => {
      const failed = await store.deliveries.listFailedAutomations(automationsMax);
      await follow(store.alerts, await findShared(options, failed, look), options);
      await follow(store.alerts, await findMissed(), options);
      // Only now, so that whoever runs next looks at a failure whose episode is not stored.
      if (failed.length > 0) await deliveryLog.forgetFailures(failed.map(({ failure }) => failure));
      await tellEnds(options);
      await sendMessages(store.alerts, sending);
    });
  };
}

/** Lets lists show the receivers. A replica without receivers leaves those of the others. */
async function keepReceivers({ store, settings }: AlertsOptions): Promise<void> {
  const receivers = settings.alerts.map(describeReceiver);
  if (receivers.length === 0 && store.replicas) return;
  // Looking needs no lock.
  const state = await store.alerts.read();
  if (setReceivers(state, receivers) === state) return;
  await store.alerts.change(state => setReceivers(state, receivers));
}

/** Adds messages about the ends of runs of which receivers are to be told. PagerDuty is for what somebody must repair. */
async function tellEnds({ store, deliveryLog, settings, targets, nowMs }: AlertsOptions): Promise<void> {
  const { dashboardUrl, receivers } = targets;
  const told: number[] = [];
  const notices: RunNotice[] = [];
  for (const { seq, run: id, state } of await store.deliveries.listEndsToTell(endsMax)) {
    const run = await store.deliveries.findRun(id);
    // Another daemon may have receivers, and tells soon.
    if (run && receivers.length === 0 && store.replicas && nowMs() - (run.finishedAtMs ?? 0) < untoldMs)
      continue;
    told.push(seq);
    if (run) notices.push({ run: id, seq, body: renderRunEnd(run, state, { nowMs: nowMs(), dashboardUrl }) });
  }
  if (told.length === 0) return;
  const listeners = settings.alerts.filter(({ format }) => format !== 'pagerduty').map(nameReceiver);
  await store.alerts.change(state => addNotices(state, notices, { receivers: listeners, nowMs: nowMs() }));
  // Only now, so that whoever runs next tells of ends whose messages are not stored.
  await deliveryLog.forgetEnds(told);
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
  look: MovingLook,
): Promise<Finding[]> {
  const { episodes } = await store.alerts.read();
  const listWatched = (isMeant: (type: AlertType) => boolean) =>
    episodes
      .filter(({ type }) => isMeant(type))
      .map(({ factory, subject: automation }): AutomationOfFactory => ({ factory, automation }));
  const open = listWatched(type => type.startsWith('runs.') && type !== 'runs.unapproved');
  const watched = open.slice(look.skip, look.skip + look.limit);
  look.moveOn(watched.length, watched.length);
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
