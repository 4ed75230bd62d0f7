import type { z } from 'zod';
import { attentionKinds, isAutomationAlert, isWebhookAlert } from '../../schema/alerts.ts';
import type { Permission } from '../../schema/grant.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { alertAnswer, alertsAnswer, attentionAnswer } from '../../schema/views/alerts.ts';
import type { AlertState, Episode, KnownReceiver, PastEpisode } from '../../store/ports/alerts.ts';
import type { Store } from '../../store/ports/store.ts';
import { describeRemedy } from './remedies.ts';

export type AlertView = z.output<typeof alertAnswer>;
export type Attention = z.output<typeof attentionAnswer>;

/** Who changes an alert of a factory, and when. */
export interface AlertChange {
  readonly store: Pick<Store, 'alerts'>;
  readonly factory: string;
  readonly id: string;
  readonly nowMs: number;
  readonly by: string;
}

/**
 * Lists the alerts of a factory: the open ones, then the last ones that were resolved, newest first; and the receivers of
 * all alerts.
 */
export async function listAlerts(
  { alerts }: Pick<Store, 'alerts'>,
  factory: string,
  permission: Permission,
): Promise<z.output<typeof alertsAnswer>> {
  const { episodes, past, receivers } = await alerts.read();
  const own = [...past, ...episodes].filter(episode => episode.factory === factory);
  return {
    alerts: own.reverse().map(alertView),
    receivers: receivers.map(receiver => receiverView(receiver, permission)),
  };
}

/** Only those who may manage see names of team secrets, which errors name too. */
function receiverView({ format, host, secret, last }: KnownReceiver, permission: Permission) {
  const isManager = permission === 'manage';
  const shown = last && {
    at: new Date(last.atMs).toISOString(),
    status: last.status,
    error: last.error === null || isManager ? last.error : 'the message could not be sent',
  };
  return { format, host, secretName: isManager ? secret : null, last: shown };
}

/** A receiver as the settings of a daemon name it. */
export type NewReceiver = Omit<KnownReceiver, 'last' | 'sinceMs'>;

/** Sets the receivers of alerts. Those that were known keep their last attempt; returns the same state if nothing changes. */
export function setReceivers(
  state: AlertState,
  receivers: readonly NewReceiver[],
  sinceMs: number,
): AlertState {
  const isSame = state.receivers.length === receivers.length;
  if (isSame && receivers.every(({ name }, index) => name === state.receivers[index]?.name)) return state;
  const known = new Map(state.receivers.map(one => [one.name, one]));
  return {
    ...state,
    receivers: receivers.map(one => known.get(one.name) ?? { ...one, sinceMs, last: null }),
  };
}

/** Lists the open alerts of these factories, or of all, the worst first. */
export async function listOpenAlerts(
  { alerts }: Pick<Store, 'alerts'>,
  factories: readonly string[] | undefined,
): Promise<(AlertView & { factory: string })[]> {
  const { episodes } = await alerts.read();
  const open = episodes.filter(({ factory }) => factories?.includes(factory) ?? true);
  return sortWorstFirst(open.map(episode => ({ ...alertView(episode), factory: episode.factory })));
}

/** Sorts by kind; of one kind, what is longest so stands first. */
export function sortWorstFirst<A extends Pick<Attention, 'type' | 'since'>>(found: readonly A[]): A[] {
  const rank = ({ type }: A) => attentionKinds.indexOf(type);
  return found.toSorted((a, b) => rank(a) - rank(b) || (a.since ?? '').localeCompare(b.since ?? ''));
}

/** Keeps receivers from being told again that an alert is open. Fails with `alert-unknown` or `alert-resolved`. */
export function acknowledgeAlert(change: AlertChange): Promise<AlertView> {
  const { nowMs, by } = change;
  return changeAlert(change, episode => {
    if ('endedMs' in episode) throw new Refusal('alert-resolved', { detail: `${episode.id} is resolved` });
    return { ...episode, acknowledged: episode.acknowledged ?? { atMs: nowMs, by } };
  });
}

/** Keeps receivers from being told that an alert is open, or open again, for this time. Fails with `alert-unknown`. */
export function muteAlert(change: AlertChange, seconds: number): Promise<AlertView> {
  const { nowMs: fromMs, by } = change;
  const muted = seconds > 0 ? { fromMs, untilMs: fromMs + seconds * 1_000, by } : undefined;
  return changeAlert(change, episode => ({ ...episode, muted }));
}

async function changeAlert(
  { store: { alerts }, factory, id }: AlertChange,
  change: <E extends Episode | PastEpisode>(episode: E) => E,
): Promise<AlertView> {
  const find = ({ episodes, past }: AlertState) => {
    const found = [...episodes, ...past].find(episode => episode.id === id && episode.factory === factory);
    if (!found) throw new Refusal('alert-unknown', { detail: `the factory ${factory} has no alert ${id}` });
    return found;
  };
  // A refused request does not write.
  change(find(await alerts.read()));
  const changed = await alerts.change(state => {
    const found = find(state);
    const replace = <E extends Episode>(episodes: readonly E[]) =>
      episodes.map(episode => (episode.id === found.id ? change(episode) : episode));
    return { ...state, episodes: replace(state.episodes), past: replace(state.past) };
  });
  return alertView(find(changed));
}

function alertView(episode: Episode | PastEpisode): AlertView {
  const { id, type, name, subject, reason, run = null, sinceMs, acknowledged, muted } = episode;
  const endedMs = 'endedMs' in episode ? episode.endedMs : null;
  const showTime = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    type,
    status: endedMs === null ? 'open' : 'resolved',
    webhook: isWebhookAlert(type) ? { name, uid: subject } : null,
    automation: isAutomationAlert(type) ? name : null,
    run,
    reason,
    since: showTime(sinceMs),
    until: endedMs === null ? null : showTime(endedMs),
    remedy: endedMs === null ? describeRemedy(episode) : null,
    acknowledged: acknowledged ? { at: showTime(acknowledged.atMs), by: acknowledged.by } : null,
    muted: muted ? { at: showTime(muted.untilMs), by: muted.by } : null,
  };
}
