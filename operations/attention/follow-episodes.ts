import { isDeepStrictEqual } from 'node:util';
import { type AlertType, isWebhookAlert } from '../../schema/alerts.ts';
import { createSortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import { beginNotAhead } from '../../schema/stored-times.ts';
import type { AlertMessage, AlertState, Episode, PastEpisode } from '../../store/ports/alerts.ts';
import type { FoundHealth } from '../health/look-at-webhooks.ts';
import { type AlertQuota, fullReasons, getOwner, hasPlace, isAlertQuota } from './alert-places.ts';
import { renderAlert } from './render-alert.ts';

/** @limit Time with room after which the alert that there was none is resolved, in ms. */
const roomMs = 10 * 60_000;
/** @limit Time without rejections after which the alert of a failing webhook is resolved, in ms: some requests succeed between others. */
const calmMs = 60_000;

/** @limit Time after which the alert of held runs is sent again while they are, in ms: only a person ends that, and retention keeps the runs until then. */
const heldAgainMs = 86_400_000;

/** @limit Episodes of a factory that are kept when they have ended. */
const pastOfFactoryMax = 50;
/** @limit Episodes of all factories that are kept when they have ended. */
const pastMax = 1_000;

/** A possible subject of an alert, and its problem. */
export interface Finding extends Pick<Episode, 'type' | 'factory' | 'subject' | 'name'> {
  /** null: nothing is wrong. */
  readonly problem: Pick<Episode, 'reason' | 'sinceMs' | 'run'> | null;
}

/** The places that alerts name. */
export interface AlertTargets {
  /** The names of the receivers that every alert is sent to. */
  readonly receivers: readonly string[];
  /** The URL of the dashboard, for links. */
  readonly dashboardUrl: string;
}

/** Everything else that alerts are made from. */
export interface AlertContext extends AlertTargets {
  readonly nowMs: number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Opens, repeats and ends episodes according to findings, with a message to each receiver. Returns the same state if
 * nothing changes.
 */
export function followEpisodes(
  state: AlertState,
  findings: readonly Finding[],
  context: AlertContext,
): AlertState {
  const followed = findings.reduce(
    (current, finding) => followOne(current, finding, context),
    followFull(settleTimes(state, context.nowMs), context),
  );
  // Also those that another daemon found, which may have no receivers.
  return followed.episodes
    .filter(({ toldMs, calmSinceMs }) => toldMs === null && calmSinceMs === null)
    .filter(episode => isToBeTold(episode, context))
    .reduce((current, episode) => tell(current, episode, episode, context), followed);
}

/** Lets what is stored ahead of now count as now. Returns the same state if nothing is. */
function settleTimes(state: AlertState, nowMs: number): AlertState {
  const settled = {
    ...state,
    episodes: state.episodes.map(episode => settleEpisode(episode, nowMs)),
    past: state.past.map(episode => settleEpisode(episode, nowMs)),
    messages: state.messages.map(message => {
      const { fromMs, untilMs: dueMs } = beginNotAhead({ ...message, untilMs: message.dueMs }, nowMs);
      return { ...message, fromMs, dueMs };
    }),
    receivers: state.receivers.map(one => ({ ...one, sinceMs: Math.min(one.sinceMs, nowMs) })),
  };
  return isDeepStrictEqual(settled, state) ? state : settled;
}

function settleEpisode<E extends Episode>(episode: E, nowMs: number): E {
  const settle = (atMs: number | null) => atMs && Math.min(atMs, nowMs);
  const { toldMs, calmSinceMs, muted } = episode;
  return {
    ...episode,
    ...{ toldMs: settle(toldMs), calmSinceMs: settle(calmSinceMs) },
    ...(muted && { muted: beginNotAhead(muted, nowMs) }),
  };
}

function followOne(state: AlertState, finding: Finding, context: AlertContext): AlertState {
  const open = state.episodes.find(episode => isAbout(episode, finding));
  const { problem } = finding;
  if (!open) return problem ? begin(state, { ...finding, ...problem }, context) : state;
  const replace = (by: Episode) => replaceEpisode(state, open, [by]);
  if (!problem) {
    const calmSinceMs = open.calmSinceMs ?? context.nowMs;
    if (context.nowMs - calmSinceMs >= calmTimes[open.type]) return end(state, open, context);
    return open.calmSinceMs === null ? replace({ ...open, calmSinceMs }) : state;
  }
  if (isToBeTold(open, context)) {
    const { reason, run } = problem;
    return tell(state, open, { ...open, reason, run, calmSinceMs: null }, context);
  }
  return open.calmSinceMs === null ? state : replace({ ...open, calmSinceMs: null });
}

function replaceEpisode(state: AlertState, open: Episode, by: readonly Episode[]): AlertState {
  return { ...state, episodes: state.episodes.flatMap(episode => (episode === open ? by : [episode])) };
}

/** Whether receivers are told of an open episode now: for the first time, or again. Without receivers, nobody is. */
function isToBeTold(
  { type, toldMs, acknowledged, muted }: Episode,
  { receivers, nowMs }: Pick<AlertContext, 'receivers' | 'nowMs'>,
): boolean {
  if (receivers.length === 0) return false;
  if (muted && nowMs < muted.untilMs) return false;
  if (toldMs === null) return true;
  return type === 'runs.held' && !acknowledged && nowMs - toldMs >= heldAgainMs;
}

/** Replaces an open episode by what is now known of it, and tells the receivers. */
function tell(state: AlertState, open: Episode, now: Episode, context: AlertContext): AlertState {
  if (!hasPlace(state, 'messages', getOwner(open)))
    return noteFull(state, 'messages', getOwner(open), context);
  const told = { ...now, toldMs: context.nowMs };
  return addMessages(replaceEpisode(state, open, [told]), renderAlert(told, context), told, context);
}

/** Ends an episode. Receivers that were told that it is open are told so, even if it is muted. */
function end(state: AlertState, open: Episode, context: AlertContext): AlertState {
  const isTold = open.toldMs !== null && context.receivers.length > 0;
  if (isTold && !hasPlace(state, 'messages', getOwner(open)))
    return noteFull(state, 'messages', getOwner(open), context);
  const { episodes } = replaceEpisode(state, open, []);
  const ended: PastEpisode = { ...open, endedMs: context.nowMs };
  const ofFactory = state.past.filter(({ factory }) => factory === open.factory);
  const [oldest] = ofFactory.length >= pastOfFactoryMax ? ofFactory : [];
  const past = [...state.past.filter(episode => episode !== oldest), ended].slice(-pastMax);
  const next = { ...state, episodes, past };
  return isTold ? addMessages(next, renderAlert(ended, context), ended, context) : next;
}

/** The time without a problem after which an episode ends, in ms. */
const calmTimes: Readonly<Record<AlertType, number>> = {
  'webhook.quiet': 0,
  'webhook.failing': calmMs,
  'webhook.previous-secret': 0,
  'webhook.repeats': 0,
  'webhook.missed': 0,
  'runs.failing': 0,
  'runs.stopped': 0,
  'runs.held': 0,
  'runs.unapproved': 0,
  'automation.paused': 0,
  'reconcile.failing': 0,
  'quota.full': roomMs,
  'log.unwritable': 0,
};

function isAbout(
  episode: Episode,
  { type, factory, subject }: Pick<Finding, 'type' | 'factory' | 'subject'>,
): boolean {
  return episode.type === type && episode.factory === factory && episode.subject === subject;
}

function begin(
  state: AlertState,
  { type, factory, subject, name, reason, run, sinceMs }: Finding & NonNullable<Finding['problem']>,
  context: AlertContext,
): AlertState {
  if (type !== 'quota.full' && !hasPlace(state, 'alerts', factory))
    return noteFull(state, 'alerts', factory, context);
  const id = createId('alr', context);
  const { muted } = state.past.findLast(episode => isAbout(episode, { type, factory, subject })) ?? {};
  const times = { sinceMs, toldMs: null, calmSinceMs: null };
  const episode: Episode = { id, type, factory, subject, name, reason, run, ...times, muted };
  return { ...state, episodes: [...state.episodes, episode] };
}

function addMessages(
  state: AlertState,
  body: string,
  about: Pick<Episode, 'type' | 'factory'>,
  context: AlertContext,
): AlertState {
  const of = { body, factory: getOwner(about), kind: 'alert' as const };
  const added = context.receivers.map(receiver => ({ ...of, id: createId('msg', context), receiver }));
  return appendMessages(state, added, context.nowMs);
}

function appendMessages(
  state: AlertState,
  added: readonly Omit<AlertMessage, 'attempts' | 'fromMs' | 'dueMs'>[],
  nowMs: number,
): AlertState {
  const due = added.map(
    (message): AlertMessage => ({ ...message, attempts: 0, fromMs: nowMs, dueMs: nowMs }),
  );
  return { ...state, messages: [...state.messages, ...due] };
}

/** Opens the alert that a factory has no place left, unless it is open. */
function noteFull(state: AlertState, name: AlertQuota, factory: string, context: AlertContext): AlertState {
  const problem = { reason: fullReasons[name], sinceMs: context.nowMs };
  const finding: Finding = { type: 'quota.full', factory, subject: name, name: '', problem };
  const open = state.episodes.find(episode => isAbout(episode, finding));
  if (!open) return begin(state, { ...finding, ...problem }, context);
  return open.calmSinceMs === null ? state : replaceEpisode(state, open, [{ ...open, calmSinceMs: null }]);
}

/** Ends the alerts that a factory has no place left if it has had one for some time. */
function followFull(state: AlertState, context: AlertContext): AlertState {
  return state.episodes
    .filter(({ type, subject, factory }) => {
      return type === 'quota.full' && isAlertQuota(subject) && hasPlace(state, subject, factory);
    })
    .reduce((current, episode) => followOne(current, { ...episode, problem: null }, context), state);
}

/** A message about the end of a run, which is told once, with an ID that is the same if it is added again. */
export interface RunNotice {
  readonly run: string;
  readonly seq: number;
  readonly factory: string;
  /** The receivers that are told. */
  readonly receivers: readonly string[];
  readonly body: string;
}

/**
 * Adds messages about the ends of runs, apart from those that wait to be sent already. Returns the notices too for which
 * there was room.
 */
export function addNotices(
  state: AlertState,
  notices: readonly RunNotice[],
  context: AlertContext,
): { readonly state: AlertState; readonly taken: readonly RunNotice[] } {
  const known = new Set(state.messages.map(({ id }) => id));
  const taken: RunNotice[] = [];
  let next = state;
  for (const notice of notices) {
    const { run, seq, receivers, factory, body } = notice;
    const added = receivers
      .map((receiver, index) => ({ id: `msg_${run.replace('run_', '')}_${seq}_${index}`, receiver }))
      .filter(({ id }) => !known.has(id))
      .map(message => ({ ...message, body, factory, kind: 'notice' as const }));
    if (added.length > 0 && !hasPlace(next, 'notices', factory)) {
      next = noteFull(next, 'notices', factory, context);
      continue;
    }
    taken.push(notice);
    if (added.length > 0) next = appendMessages(next, added, context.nowMs);
  }
  return { state: next, taken };
}

function createId(prefix: 'alr' | 'msg', { nowMs, randomBytes }: AlertContext): string {
  return createSortableId(prefix, nowMs, randomBytes(sortableIdRandomBytes));
}

/** Turns the health of a webhook into findings for its alerts. */
export function findInHealth({
  factory,
  uid: subject,
  name,
  health,
  overlap,
  repeatedBody,
}: FoundHealth): Finding[] {
  const find = (type: Finding['type'], state: string): Finding => {
    const isSo = health?.state === state && health.sinceMs !== null;
    const problem = isSo ? { reason: `${name}: ${health.reason}`, sinceMs: health.sinceMs } : null;
    return { type, factory, subject, name, problem };
  };
  // Until it is over, the sender may use either value.
  const isLate = overlap?.isOver && overlap.sender === 'previous';
  const problem = isLate
    ? { reason: `${name}: ${overlap.message}`, sinceMs: Date.parse(overlap.until) }
    : null;
  const previous: Finding = { type: 'webhook.previous-secret', factory, subject, name, problem };
  const repeats: Finding = {
    ...{ type: 'webhook.repeats', factory, subject, name },
    problem: repeatedBody ? { ...repeatedBody, reason: `${name}: ${repeatedBody.reason}` } : null,
  };
  return [find('webhook.quiet', 'quiet'), find('webhook.failing', 'failing'), previous, repeats];
}

/** The webhooks that an alert about their health is open for. */
export function listWatched({ episodes }: AlertState) {
  return episodes
    .filter(({ type }) => isWebhookAlert(type) && type !== 'webhook.missed')
    .map(({ factory, subject: uid }) => ({ factory, uid }));
}
