import type { z } from 'zod';
import { isAutomationAlert, isWebhookAlert } from '../../schema/alerts.ts';
import type * as answers from '../../schema/api/answers.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { AlertState, Episode, PastEpisode } from '../../store/ports/alerts.ts';
import type { Store } from '../../store/ports/store.ts';
import { describeRemedy } from './render-alert.ts';

export type AlertView = z.output<typeof answers.alertAnswer>;

/** Who changes an alert of a factory, and when. */
export interface AlertChange {
  readonly store: Pick<Store, 'alerts'>;
  readonly factory: string;
  readonly id: string;
  readonly nowMs: number;
  readonly by: string;
}

/** Lists the alerts of a factory: the open ones, then the last ones that were resolved, newest first. */
export async function listAlerts({ alerts }: Pick<Store, 'alerts'>, factory: string): Promise<AlertView[]> {
  const { episodes, past } = await alerts.read();
  const own = [...past, ...episodes].filter(episode => episode.factory === factory);
  return own.reverse().map(alertView);
}

/** Lists the open alerts of these factories, or of all, newest first. */
export async function listOpenAlerts(
  { alerts }: Pick<Store, 'alerts'>,
  factories: readonly string[] | undefined,
): Promise<(AlertView & { factory: string })[]> {
  const { episodes } = await alerts.read();
  return episodes
    .filter(({ factory }) => factories?.includes(factory) ?? true)
    .reverse()
    .map(episode => ({ ...alertView(episode), factory: episode.factory }));
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
  const muted = seconds > 0 ? { untilMs: change.nowMs + seconds * 1_000, by: change.by } : undefined;
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
