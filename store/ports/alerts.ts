import { z } from 'zod';
import { alertTypes } from '../../schema/alerts.ts';

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
  sinceMs: z.int(),
  /** When receivers were last told that it is open. */
  toldMs: z.int(),
  /** Since when nothing is wrong any more; null while something is. */
  calmSinceMs: z.int().nullable(),
});

/** A time in which something was wrong. */
export type Episode = z.output<typeof episodeShape>;

const messageShape = z.strictObject({
  /** `msg_…`, by which a receiver recognises a message that it gets again. */
  id: z.string(),
  url: z.string(),
  body: z.string(),
  attempts: z.int(),
  dueMs: z.int(),
});

/** A message that a receiver does not have yet. */
export type AlertMessage = z.output<typeof messageShape>;

export const alertStateShape = z.strictObject({
  formatVersion: z.literal(1),
  episodes: z.array(episodeShape),
  messages: z.array(messageShape),
});

/** The open episodes, and the messages about them that must still be sent. */
export type AlertState = z.output<typeof alertStateShape>;

export const noAlerts: AlertState = { formatVersion: 1, episodes: [], messages: [] };

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
