import { z } from 'zod';
import { alertTypes, receiverFormats } from '../../schema/alerts.ts';

const episodeShape = z.strictObject({
  /** `alr_…`, the same in all messages about it. */
  id: z.string(),
  type: z.enum(alertTypes),
  /** Empty for what concerns no factory. */
  factory: z.string(),
  /** The UID of a webhook, or the name of an automation; otherwise empty. */
  subject: z.string(),
  /** The name of the webhook or the automation. */
  name: z.string(),
  reason: z.string(),
  /** The ID of the run that a person must act on, if there is one. */
  run: z.string().optional(),
  sinceMs: z.int(),
  /** When receivers were last told that it is open; null if none was, because it is muted or has no receiver. */
  toldMs: z.int().nullable(),
  /** Since when nothing is wrong any more; null while something is. */
  calmSinceMs: z.int().nullable(),
  /** Somebody works on it: receivers are not told again. */
  acknowledged: z.strictObject({ atMs: z.int(), by: z.string() }).optional(),
  /** Until when receivers are told nothing of it, or of the next one with the same subject. */
  muted: z.strictObject({ fromMs: z.int(), untilMs: z.int(), by: z.string() }).optional(),
});

const pastEpisodeShape = episodeShape.extend({ endedMs: z.int() });

/** A time in which something was wrong. */
export type Episode = z.output<typeof episodeShape>;

export type PastEpisode = z.output<typeof pastEpisodeShape>;

const messageShape = z.strictObject({
  /** `msg_…`, by which a receiver recognises a message that it gets again. */
  id: z.string(),
  /** Names one of the receivers in the daemon's settings. */
  receiver: z.string(),
  body: z.string(),
  /** The factory whose share of the waiting messages it takes; empty: the operator's. */
  factory: z.string(),
  /** Notices tell of ends of runs, and wait until the alerts are sent. */
  kind: z.enum(['alert', 'notice']),
  attempts: z.int(),
  /** Since when it waits to be sent, and until when. */
  fromMs: z.int(),
  dueMs: z.int(),
});

/** A message that a receiver does not have yet. */
export type AlertMessage = z.output<typeof messageShape>;

const receiverShape = z.strictObject({
  /** As messages name it. Not to be shown: it may have the whole URL. */
  name: z.string(),
  format: z.enum(receiverFormats),
  /** The host of its URL; null if the URL is a team secret. */
  host: z.string().nullable(),
  /** The name of the team secret that alerts are signed or sent with. */
  secret: z.string(),
  /** Since when it is a receiver: it is told of no earlier end of a run. */
  sinceMs: z.int(),
  /** The last attempt to send it a message; null if there was none. */
  last: z
    .strictObject({
      atMs: z.int(),
      /** The status of the answer; null if there was none. */
      status: z.int().nullable(),
      /** Why it does not have the message; null if it has. */
      error: z.string().nullable(),
    })
    .nullable(),
});

/** A receiver of alerts, as the last daemon to start with receivers is configured. */
export type KnownReceiver = z.output<typeof receiverShape>;

export const alertStateShape = z.strictObject({
  formatVersion: z.literal(1),
  episodes: z.array(episodeShape),
  /** Oldest first. */
  past: z.array(pastEpisodeShape),
  messages: z.array(messageShape),
  receivers: z.array(receiverShape).default([]),
});

/** The open episodes, the last ones that ended, and the messages about them that must still be sent. */
export type AlertState = z.output<typeof alertStateShape>;

export const noAlerts: AlertState = { formatVersion: 1, episodes: [], past: [], messages: [], receivers: [] };

/** A webhook for which an alert is open. */
export interface WatchedWebhook {
  readonly factory: string;
  readonly uid: string;
  readonly name: string;
}

/** Keeps the state of alerts, so that each episode is reported once, whichever daemon is restarted. */
export interface Alerts {
  read(): Promise<AlertState>;
  /** Changes the state under its lock; `change` returns the same object to leave it. Fails with `locked`. */
  change(change: (state: AlertState) => AlertState): Promise<AlertState>;
}

/** Keeps the state in memory: of what keeps the store from being written. */
export function openMemoryAlerts(): Alerts {
  let state = noAlerts;
  return {
    read: async () => state,
    change: async change => {
      state = change(state);
      return state;
    },
  };
}
