import {
  hasEnded,
  type IdentitySource,
  type RunState,
  type RunWait,
  type UnloggedReason,
} from '../delivery.ts';
import type { RunUsage } from '../run-report.ts';

const reasons: Readonly<Record<UnloggedReason, string>> = {
  'rate limit': 'by the rate limit',
  'failed attempts': 'after too many failed attempts',
  authentication: 'by authentication, beyond the rows that are logged',
  incomplete: 'with an incomplete body',
  disabled: 'because the webhook is disabled',
  method: 'with another method than POST',
  'issuer keys': 'because the keys of the issuer were missing',
  'not recorded': 'because they could not be recorded',
  'similar URL': 'at a similar URL',
  'unknown URL': 'at unknown URLs',
};

interface Unlogged {
  readonly reason: UnloggedReason;
  readonly detail: string;
  readonly count: number;
  readonly lastAt: string;
}

const waitTexts: Readonly<Record<RunWait, string>> = {
  order: 'waits for an earlier run',
  limit: 'waits for other runs to end',
  deliveries: 'waits for more deliveries',
  paused: 'its automation is paused',
  approval: 'waits for approval',
};

/** Says where the identity of a delivery comes from. */
export const identitySourceTexts: Readonly<Record<IdentitySource, string>> = {
  deliveryIdHeader: 'the header that the webhook names',
  deliveryIdField: 'the field that the webhook names',
  scheme: "the provider's header",
  schemeField: "the provider's field in the body",
  'X-Service-Delivery-Id': 'X-Service-Delivery-Id',
  body: 'a hash of the body',
  none: 'itself: it has no other ID',
};

/** Names the handshake of a webhook's definition. */
export function describeHandshake(key: string | { readonly cloudevents: string }): string {
  return typeof key === 'string' ? key : `cloudevents, only from ${key.cloudevents}`;
}

/** Says how the deliveries of a webhook without an ID are told apart, by its `identity`. */
export function describeIdentity(key: 'none' | { readonly sameBody: string }): string {
  return key === 'none' ? 'each is a new one' : `by their bodies, for ${key.sameBody}`;
}

interface DescribedId {
  readonly field: string;
  readonly deliveries: number;
  readonly judged: number;
}

/** Says that a field seems to be the ID of an event, and repeats. */
export function describeRepeatedId({ field, deliveries, judged }: DescribedId): string {
  const [have, were] = deliveries === 1 ? ['has', 'was'] : ['have', 'were'];
  return `${deliveries} of the last ${judged} deliveries ${have} the same ${field} as an earlier one, and ${were} accepted again`;
}

/** The remedy for a repeated ID. */
export function remedyRepeatedId({ field }: Pick<DescribedId, 'field'>): string {
  return `If ${field} is the ID of the event, add \`deliveryIdField: ${field}\` to the webhook: then retries are duplicates`;
}

/** Joins what was found and what to do about it to sentences. */
export function describeAdvice({
  message,
  remedy,
}: {
  readonly message: string;
  readonly remedy: string | null;
}): string {
  return remedy === null ? message : `${message}. ${remedy}.`;
}

interface DescribedRun {
  readonly waitsFor?: RunWait | undefined;
  readonly stopped?: boolean | undefined;
  readonly dismissed?: boolean | undefined;
  readonly holds?: boolean | undefined;
  readonly state?: RunState | undefined;
  readonly cancel?: object | undefined;
}

/** Says more about the state of a run; undefined if there is no more to say. */
export function describeRunState(run: DescribedRun): string | undefined {
  const { waitsFor, stopped, dismissed, holds } = run;
  if (run.cancel && run.state !== undefined && !hasEnded(run.state)) return 'is being cancelled';
  if (waitsFor) return waitTexts[waitsFor];
  if (dismissed) return 'dismissed';
  const more = [...(stopped ? ['stopped'] : []), ...(holds ? ['the next runs wait behind it'] : [])];
  return more.length === 0 ? undefined : more.join(', ');
}

/** Renders an operation of the audit log in words: `changeWebhook` is `change webhook`. */
export function describeOperation(operation: string): string {
  return operation.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}

/** The first seven digits of a commit, as git and its hosts show it to people. */
export function shortenRevision(revision: string): string {
  return revision.slice(0, 7);
}

/**
 * Counts the requests without a row for each reason, such as `18 by the rate limit (last 16:03:11)`. They are given
 * newest first.
 */
export function describeUnlogged(
  requests: readonly Unlogged[],
  formatTime: (at: string) => string,
): readonly string[] {
  const byText = new Map<string, { count: number; lastAt: string }>();
  for (const { reason, detail, count, lastAt } of requests) {
    const text = detail === '' ? reasons[reason] : `${reasons[reason]}: ${detail}`;
    const known = byText.get(text) ?? { count: 0, lastAt };
    byText.set(text, { ...known, count: known.count + count });
  }
  return [...byText].map(([text, { count, lastAt }]) => `${count} ${text} (last ${formatTime(lastAt)})`);
}

/** Whether a text contains every word that someone typed, in any order and in upper or lower case. */
export function matchesWords(text: string, typed: string): boolean {
  const searched = text.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every(word => searched.includes(word));
}

/** Describes the cost, tokens and turns of an attempt; undefined if it reports none. */
export function describeUsage({ costUsd, inputTokens, outputTokens, turns }: RunUsage): string | undefined {
  const parts = [
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(2)}`]),
    ...(turns === undefined ? [] : [`${turns} ${turns === 1 ? 'turn' : 'turns'}`]),
    ...(inputTokens === undefined ? [] : [`${inputTokens} tokens in`]),
    ...(outputTokens === undefined ? [] : [`${outputTokens} tokens out`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
