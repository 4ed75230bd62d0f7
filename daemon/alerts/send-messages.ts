import type { Logger } from 'pino';
import { inTurns } from '../../schema/quota.ts';
import { backOffMs } from '../../schema/retry-waits.ts';
import type { AlertMessage, Alerts, KnownReceiver } from '../../store/ports/alerts.ts';
import { type Posted, postToReceiver } from '../receivers/post-to-receiver.ts';
import { isReceiverUrl } from '../setting-shapes.ts';
import { type AlertReceiver, describeReceiver, nameReceiver } from './alert-settings.ts';
import { renderRequest } from './message-formats.ts';

/** @limit Messages that are sent at the same time. The others follow as soon as these are answered: alerts before notices, factories in turns. */
const messagesAtOnceMax = 10;
/** @limit Time in which a receiver of alerts must answer, in ms: it should answer first and work later. */
const answerMs = 10_000;
/** @limit Attempts to send a message about an episode: with the waits between them, about two and a half hours. */
const attemptsMax = 20;
/** @limit First wait before a message is sent again, in ms; it doubles for each further attempt. */
const backOffFirstMs = 5_000;
/** @limit Longest wait before a message is sent again, in ms: a repaired receiver is tried again within ten minutes. */
const backOffMaxMs = 600_000;

export interface SendingDeps {
  readonly receivers: readonly AlertReceiver[];
  /** Undefined if the team secret has no value. */
  readonly openSecret: (name: string) => Promise<string | undefined>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Ends requests in progress. */
  readonly signal: AbortSignal;
}

/**
 * Sends messages until none is due, each in the format of its receiver, and records which need not be sent again. One whose
 * answer is lost is sent again with the same ID. Keeps the last attempt of each receiver.
 */
export async function sendMessages(alerts: Alerts, deps: SendingDeps): Promise<void> {
  while (!deps.signal.aborted) {
    const { messages } = await alerts.read();
    const due = messages.filter(({ dueMs }) => dueMs <= deps.nowMs());
    if (due.length === 0) return;
    const { alert = [], notice = [] } = Object.groupBy(due, ({ kind }) => kind);
    const sorted = [...inTurns(alert, getFactory), ...inTurns(notice, getFactory)];
    const next = sorted.slice(0, messagesAtOnceMax);
    await sendTogether(alerts, next, deps);
  }
}

const getFactory = ({ factory }: AlertMessage) => factory;

async function sendTogether(alerts: Alerts, due: readonly AlertMessage[], deps: SendingDeps): Promise<void> {
  const sent = new Map<string, Sent>();
  await Promise.all(due.map(async message => sent.set(message.id, await sendOne(message, deps))));
  const lasts = new Map([...sent.values()].flatMap(({ receiver, last }) => (last ? [[receiver, last]] : [])));
  await alerts.change(state => ({
    ...state,
    messages: state.messages.flatMap(message => {
      const end = sent.get(message.id);
      return end ? (end.again ?? []) : message;
    }),
    receivers: state.receivers.map(one => ({ ...one, last: lasts.get(one.name) ?? one.last })),
  }));
}

/** What became of a message. */
interface Sent {
  /** The message to send again; undefined if it need not be. */
  readonly again: AlertMessage | undefined;
  readonly receiver: string;
  /** Undefined if nothing was tried, or the daemon stopped. */
  readonly last: KnownReceiver['last'] | undefined;
}

async function sendOne(message: AlertMessage, deps: SendingDeps): Promise<Sent> {
  const { receiver: name } = message;
  const receiver = deps.receivers.find(other => nameReceiver(other) === name);
  // The operator removed the receiver from the settings.
  if (!receiver) return { again: undefined, receiver: name, last: undefined };
  const { posted, status } = await post(message, receiver, deps);
  const attempts = message.attempts + 1;
  const { nowMs, random, signal } = deps;
  const last = { atMs: nowMs(), status, error: posted.kind === 'succeeded' ? null : posted.reason };
  if (posted.kind === 'succeeded') return { again: undefined, receiver: name, last };
  // Not an attempt that failed: the daemon stops.
  if (signal.aborted) return { again: message, receiver: name, last: undefined };
  const { reason } = posted;
  const isLast = posted.kind === 'failed' || attempts >= attemptsMax;
  const fields = { message: message.id, receiver: describeReceiver(receiver).host ?? name, attempts, reason };
  deps.log.warn(fields, isLast ? 'an alert could not be sent' : 'an alert is sent again later');
  if (isLast) return { again: undefined, receiver: name, last };
  const waitMs = backOffMs(attempts, { firstMs: backOffFirstMs, maxMs: backOffMaxMs }, random());
  const fromMs = nowMs();
  const dueMs = fromMs + Math.max(waitMs, posted.afterMs ?? 0);
  return { again: { ...message, attempts, fromMs, dueMs }, receiver: name, last };
}

/** Also returns the status of the answer; null if there was none. */
async function post(
  message: AlertMessage,
  receiver: AlertReceiver,
  { openSecret, nowMs, signal }: SendingDeps,
): Promise<{ readonly posted: Posted; readonly status: number | null }> {
  const fail = (reason: string) => ({ posted: { kind: 'retry', reason } as const, status: null });
  const secret = await openSecret(receiver.secret);
  if (secret === undefined) return fail(`the team secret ${receiver.secret} has no value`);
  const request = renderRequest(message, receiver, secret, nowMs());
  if (!isReceiverUrl(request.url)) return fail(`the team secret ${receiver.secret} is not a URL`);
  let status: number | null = null;
  const posted = await postToReceiver({ ...request, timeLimitMs: answerMs, signal }, nowMs, async answer => {
    status = answer.status;
    await answer.body?.cancel();
  });
  return { posted, status };
}
