import { joinWithAnd } from '../text/suggestion.ts';
import type {
  AutomationImpact,
  IdentityImpact,
  Impact,
  SenderAuthentication,
  Traffic,
  WebhookEffect,
  WebhookImpact,
} from './plan-shapes.ts';

/** @limit Days for which a plan counts a webhook's deliveries: a week has each weekday once. */
export const impactTrafficDays = 7;

/** @limit Days for which a destroyed webhook can be restored with its URL: a month has each mistake that somebody notices. */
export const restorableDays = 30;

/** @limit Queued runs of an automation that a plan counts: more need the same decision. */
export const queuedCountMax = 1_000;

/** Says what a change means for senders and runs, in sentences without a full stop at the end. */
export function describeImpact(impact: Impact, nowMs: number): readonly string[] {
  if (impact.kind === 'automation') return [...describeAutomation(impact), ...describeExamples(impact)];
  return [...describeSenders(impact), describeTraffic(impact.traffic, nowMs), ...describeSilenced(impact)];
}

/** Says the same without what a table has in columns of its own, and without examples. */
export function describeEffects(impact: Impact): readonly string[] {
  if (impact.kind === 'automation') return describeAutomation(impact);
  return [...describeSenders(impact), ...describeSilenced(impact)];
}

/** Says what becomes of the URL of a destroyed webhook, after a word that says whose it is. */
export const urlGone = `URL stops answering; restoring the definition within ${restorableDays} days brings it back`;

const effectTexts: Readonly<
  Record<Exclude<WebhookEffect, 'authentication-changed' | 'credential-changed'>, string>
> = {
  'url-gone': `its ${urlGone}`,
  disabled: 'its URL answers 404 until it is enabled again',
  enabled: 'its URL answers again',
  'url-changed': 'its URL changes: give the sender the new one',
  'identity-changed': 'retries that are in progress may be accepted a second time',
  'payload-changed': 'bodies in the format of before are answered 400, and filters see another payload',
};

function describeSenders({
  effects,
  previousUntil,
  authentication,
  identities,
}: WebhookImpact): readonly string[] {
  return effects.flatMap(effect => {
    if (effect === 'credential-changed') {
      return previousUntil === undefined
        ? 'the old credential stops working at once: give the sender the new one'
        : `give the sender the new credential: the old one works until ${previousUntil}`;
    }
    if (effect === 'identity-changed') return [effectTexts[effect], ...describeIdentities(identities)];
    if (effect !== 'authentication-changed') return [effectTexts[effect]];
    return authentication ? describeAuthenticationChange(authentication) : [];
  });
}

/** Says how many of the last deliveries are identified in another way, and how many become duplicates by it. */
function describeIdentities(identities: IdentityImpact | undefined): readonly string[] {
  if (!identities) return [];
  const { judged, changed, duplicates } = identities;
  const last = judged === 1 ? 'the last delivery' : `${changed} of the last ${judged} deliveries`;
  const changes = `the identity of ${judged === 1 && changed === 0 ? 'no stored delivery' : last} changes`;
  if (duplicates === 0) return [changes];
  return [
    `${changes}; ${duplicates} of them would have been ${duplicates === 1 ? 'a duplicate' : 'duplicates'}`,
  ];
}

function describeSilenced({ silenced }: WebhookImpact): readonly string[] {
  return silenced.length > 0 ? [`no longer starts ${silenced.join(', ')}`] : [];
}

type AuthenticationChange = NonNullable<WebhookImpact['authentication']>;

function describeAuthenticationChange({ before, after }: AuthenticationChange): readonly string[] {
  if (after.issuer !== null && after.issuer === before.issuer)
    return [`it refuses tokens of ${after.issuer} at once that do not have the new audience and claims`];
  const accepted = describeAccepted(after);
  const refused = describeAccepted(before);
  const isCustom = accepted === refused;
  const expects = `it expects ${accepted}${isCustom ? ' as it is now' : ''} at once`;
  const refuses = `refuses ${refused}${isCustom ? ' as it was' : ''}`;
  const secret = describeSecret(before, after);
  return [`${expects}, and ${refuses}`, ...(secret === undefined ? [] : [secret])];
}

function describeAccepted({ authMode, signatureScheme, issuer }: SenderAuthentication): string {
  if (authMode === 'oidc') return `tokens of ${issuer}`;
  if (authMode === 'token') return 'a bearer token';
  if (authMode === 'url_token') return 'the token in its URL';
  return `signatures of ${signatureScheme === null ? 'the custom scheme' : `the scheme ${signatureScheme}`}`;
}

function describeSecret(before: SenderAuthentication, after: SenderAuthentication): string | undefined {
  if (after.secretName === null) return undefined;
  if (after.secretName !== before.secretName) {
    return `it is checked with the team secret ${after.secretName} (${before.secretName ?? 'none'} before)`;
  }
  const same = `it is still checked with the team secret ${after.secretName}`;
  return after.authMode === 'signature' ? `${same}: make sure that it has the new sender's secret` : same;
}

function describeTraffic({ lastAcceptedAt, accepted, days }: Traffic, nowMs: number): string {
  if (lastAcceptedAt === null) return 'no accepted delivery in the log';
  return `last delivery ${renderAge(lastAcceptedAt, nowMs)}, ${accepted} in ${days} days`;
}

function describeAutomation(impact: AutomationImpact): readonly string[] {
  const { judged, startedBefore, startedAfter, changed } = impact;
  const flow = [...describeRuns(impact), ...describeQueued(impact)];
  if (judged === 0 && impact.queued) return flow;
  if (judged === 0) return ['there is no stored delivery to test it with'];
  if (judged === 1) return [describeOneDelivery(impact), ...flow];
  const start = isGathered(impact) ? 'start or join a run' : 'start a run';
  const runs = `Of the last ${judged} deliveries, ${startedAfter} would ${start} (${startedBefore} before)`;
  if (changed === 0) return [`${runs}; no outcome changes`, ...flow];
  return [`${runs}; the outcome of ${changed} changes`, ...flow];
}

/** Names the newest deliveries whose outcome changes; a single one is named in the sentence before. */
export function describeExamples({ judged, changed, examples }: AutomationImpact): readonly string[] {
  if (judged < 2 || changed === 0) return [];
  const named = examples.map(({ deliveryId, starts }) => `${deliveryId} (${describeOutcome(starts)})`);
  const more = changed > examples.length ? ` and ${changed - examples.length} more` : '';
  return [`Outcome changes: ${named.join(', ')}${more}`];
}

/** Describes the effect of `debounce` and `runsPerHour`, if they have one before or after the change. */
function describeRuns(impact: AutomationImpact): readonly string[] {
  const { judged, runs } = impact;
  const { before, after } = runs;
  const isStopped = before.stopped + after.stopped > 0;
  const count = `${after.runs} ${after.runs === 1 ? 'run' : 'runs'}`;
  const lastOnes = judged === 1 ? 'delivery' : `${judged} deliveries`;
  return [
    ...(isGathered(impact) ? [`${count} instead of ${before.runs} for the last ${lastOnes}`] : []),
    ...(isStopped
      ? [
          `runsPerHour would have stopped ${after.stopped} of ${count} (${before.stopped} of ${before.runs} before)`,
        ]
      : []),
  ];
}

/** Says what becomes of the runs that a destroyed automation leaves, or what a change does not do to queued runs. */
function describeQueued({ queued = 0, kept }: AutomationImpact): readonly string[] {
  if (queued === 0) return [];
  const count = queued === queuedCountMax ? `${queued} or more` : `${queued}`;
  if (kept) {
    const keys = joinWithAnd(kept.map(key => `\`${key}\``));
    if (queued === 1) return [`1 run that waits keeps the ${keys} with which it was recorded`];
    return [`${count} runs that wait keep the ${keys} with which they were recorded`];
  }
  const [runs, start] = queued === 1 ? ['run', 'starts'] : ['runs', 'start'];
  return [`${count} queued ${runs} of it ${start} all the same: \`hookmill runs cancel\` prevents that`];
}

/** Whether some deliveries share a run, before or after. */
function isGathered({ startedBefore, startedAfter, runs }: AutomationImpact): boolean {
  return runs.before.runs !== startedBefore || runs.after.runs !== startedAfter;
}

function describeOneDelivery({ startedAfter, examples: [changed] }: AutomationImpact): string {
  if (changed) return `The last delivery, ${changed.deliveryId}, ${describeOutcome(changed.starts)}`;
  return `The last delivery would start ${startedAfter === 1 ? 'a' : 'no'} run, as before`;
}

function describeOutcome(starts: boolean): string {
  return `would ${starts ? 'now' : 'no longer'} start a run`;
}

const units = [
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
  ['second', 1],
] as const;

/** The time that has passed since then, in the largest unit that it fills. */
export function renderAge(at: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1000));
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

/** A change, as far as it matters to senders and runs. */
interface WeighedChange {
  readonly action: string;
  readonly kind: string;
  readonly renamedTo?: string;
  readonly impact?: Impact;
}

/**
 * Says in one line what senders and runs lose by all changes, as in `2 URLs stop answering, 1 credential changes; 12
 * deliveries in 7 days would be lost`; empty if they lose nothing. Only deliveries to a URL that stops answering are
 * lost for certain: a sender can get a new credential in time.
 */
export function summarizeImpacts(changes: readonly WeighedChange[]): string {
  const stopped = changes.filter(change => stops(change));
  const moved = changes.filter(change => moves(change));
  const credentials = changes.filter(change =>
    hasEffect(change, 'credential-changed', 'authentication-changed'),
  );
  const automations = changes.filter(({ kind }) => kind === 'automation');
  const destroyed = automations.filter(({ action }) => action === 'delete');
  const altered = automations.filter(
    ({ action, impact }) => action === 'update' && impact?.kind === 'automation' && impact.changed > 0,
  );
  const parts = [
    count(stopped.length, 'URL stops answering', 'URLs stop answering'),
    count(moved.length, 'URL changes', 'URLs change'),
    count(credentials.length, 'credential changes', 'credentials change'),
    count(destroyed.length, 'automation is destroyed', 'automations are destroyed'),
    count(altered.length, 'automation starts other runs', 'automations start other runs'),
  ].flat();
  return [parts.join(', '), ...countLost([...stopped, ...moved])].join('; ');
}

function stops(change: WeighedChange): boolean {
  if (change.kind !== 'webhook' || change.renamedTo !== undefined) return false;
  return change.action === 'delete' || hasEffect(change, 'disabled');
}

function moves(change: WeighedChange): boolean {
  return change.renamedTo !== undefined || (!stops(change) && hasEffect(change, 'url-changed'));
}

type Effect = Extract<Impact, { kind: 'webhook' }>['effects'][number];

function hasEffect({ impact }: WeighedChange, ...effects: readonly Effect[]): boolean {
  return impact?.kind === 'webhook' && impact.effects.some(effect => effects.includes(effect));
}

function countLost(changes: readonly WeighedChange[]): string[] {
  const traffic = changes.flatMap(({ impact }) => (impact?.kind === 'webhook' ? [impact.traffic] : []));
  const lost = traffic.reduce((sum, { accepted }) => sum + accepted, 0);
  const days = traffic[0]?.days;
  return count(lost, `delivery in ${days} days would be lost`, `deliveries in ${days} days would be lost`);
}

function count(number: number, one: string, several: string): string[] {
  return number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
}
