import type { AppliedState, AppliedWebhook } from '../schema/applied-state.ts';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { judgeAutomation } from '../schema/filters/judge-automation.ts';
import type { Definitions } from '../sources/definitions.ts';
import type { Change } from './plan.ts';

/** @limit Most stored deliveries on which a plan tests a changed automation: they show a filter's effect, and are read in under a second. */
const impactDeliveriesMax = 200;
/** @limit Most deliveries with a changed verdict that a plan names: a reviewer looks at a few. */
const impactExamplesMax = 5;
/** @limit Days for which a plan counts a webhook's deliveries: a week has each weekday once. */
export const impactTrafficDays = 7;

/** The deliveries in the delivery log. */
export interface History {
  countTraffic(webhook: AppliedWebhook): Promise<Traffic>;
  /** The last accepted deliveries of these webhooks together, newest first, at most `limit`. */
  readLastAccepted(webhooks: readonly AppliedWebhook[], limit: number): AsyncIterable<StoredDelivery>;
}

/** Accepted deliveries of a webhook. */
export interface Traffic {
  readonly lastAcceptedAt: string | null;
  /** How many were accepted in the last `days` days. */
  readonly accepted: number;
  readonly days: number;
}

export interface StoredDelivery {
  readonly id: string;
  readonly webhook: string;
  readonly webhookUid: string;
  readonly payload: unknown;
}

export type Impact = WebhookImpact | AutomationImpact;

/** The effects of a change on the senders of a webhook. */
export interface WebhookImpact {
  readonly kind: 'webhook';
  readonly effects: readonly WebhookEffect[];
  readonly traffic: Traffic;
  /** Automations that stay, but that the webhook no longer starts. */
  readonly silenced: readonly string[];
}

export type WebhookEffect =
  /** The URL answers 404 forever. */
  | 'url-gone'
  /** The URL answers 404 until the webhook is enabled again. */
  | 'disabled'
  | 'enabled'
  /** The token moves into the URL, or out of it. */
  | 'url-changed'
  /** Senders need another credential at once. */
  | 'credential-changed'
  /** Retries are recognized by another header. */
  | 'identity-changed';

/** The effect that a change of an automation would have had on stored deliveries. */
export interface AutomationImpact {
  readonly kind: 'automation';
  /** The number of stored deliveries that were judged by the old triggers and by the new ones. */
  readonly judged: number;
  readonly startedBefore: number;
  readonly startedAfter: number;
  /** Deliveries whose verdict changes. */
  readonly changed: number;
  /** The newest of them. */
  readonly examples: readonly VerdictChange[];
}

export interface VerdictChange {
  readonly deliveryId: string;
  readonly webhook: string;
  readonly starts: boolean;
}

/** Finds the impact of each change on senders and runs. */
export async function findImpacts(
  changes: readonly Change[],
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: History,
): Promise<ReadonlyMap<Change, Impact>> {
  const impacts = new Map<Change, Impact>();
  for (const change of changes) {
    const impact = await findImpact(change, desired, applied, history);
    if (impact) impacts.set(change, impact);
  }
  return impacts;
}

/** Finds the impact of a change on senders and runs; undefined if it has none. */
export async function findImpact(
  change: Change,
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: History,
): Promise<Impact | undefined> {
  return change.kind === 'webhook'
    ? findWebhookImpact(change, desired, applied, history)
    : findAutomationImpact(change, desired, applied, history);
}

async function findWebhookImpact(
  change: Change,
  desired: Pick<Definitions, 'automations'>,
  applied: AppliedState,
  history: History,
): Promise<WebhookImpact | undefined> {
  const webhook = applied.webhooks.find(({ name }) => name === change.name);
  if (!webhook) return undefined;
  const effects = findEffects(change, webhook);
  if (effects.length === 0) return undefined;
  const silent = effects.includes('url-gone') || effects.includes('disabled');
  const listening = desired.automations.filter(automation => isStartedBy(automation, webhook.uid));
  return {
    kind: 'webhook',
    effects,
    traffic: await history.countTraffic(webhook),
    silenced: silent ? listening.map(({ name }) => name) : [],
  };
}

const credentialFields = ['authMode', 'signatureScheme', 'secretName', 'secret'];

function findEffects({ action, fields }: Change, { credential }: AppliedWebhook): readonly WebhookEffect[] {
  if (action === 'delete') return ['url-gone'];
  if (action !== 'update') return [];
  const effects = fields.flatMap(({ field, before, after }): WebhookEffect[] => {
    if (field === 'enabled') return [after === true ? 'enabled' : 'disabled'];
    if (field === 'deliveryIdHeader') return ['identity-changed'];
    if (field === 'authMode' && (before === 'url_token' || after === 'url_token')) {
      return ['url-changed', 'credential-changed'];
    }
    return credentialFields.includes(field) ? ['credential-changed'] : [];
  });
  // Without a value, the secret was not a credential yet, so no sender is affected.
  return [...new Set(effects)].filter(
    effect => effect !== 'credential-changed' || credential.kind !== 'unset',
  );
}

async function findAutomationImpact(
  { action, name, fields }: Change,
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: History,
): Promise<AutomationImpact | undefined> {
  if (action === 'no-op') return undefined;
  if (action === 'update' && !fields.some(({ field }) => field !== 'prompt')) return undefined;
  const before = applied.automations.find(automation => automation.name === name);
  const after = desired.automations.find(automation => automation.name === name);
  const selected = new Set([before, after].flatMap(automation => (automation ? getUids(automation) : [])));
  const webhooks = applied.webhooks.filter(({ uid }) => selected.has(uid));
  const startsBefore = makeJudge(before, findAnsweringNow(applied));
  const startsAfter = makeJudge(after, findAnsweringThen(applied, desired.webhooks));

  let [judged, startedBefore, startedAfter] = [0, 0, 0];
  const changed: VerdictChange[] = [];
  for await (const delivery of history.readLastAccepted(webhooks, impactDeliveriesMax)) {
    const [started, starts] = [startsBefore(delivery), startsAfter(delivery)];
    judged += 1;
    startedBefore += started ? 1 : 0;
    startedAfter += starts ? 1 : 0;
    if (started !== starts) changed.push({ deliveryId: delivery.id, webhook: delivery.webhook, starts });
  }
  const examples = changed.slice(0, impactExamplesMax);
  return { kind: 'automation', judged, startedBefore, startedAfter, changed: changed.length, examples };
}

function getUids({ triggers }: AutomationDefinition): readonly string[] {
  return triggers.flatMap(({ filter }) => filter.webhook_ids);
}

function isStartedBy(automation: AutomationDefinition, uid: string): boolean {
  return automation.enabled && getUids(automation).includes(uid);
}

/** The UIDs of the webhooks that accept deliveries. */
type Answering = ReadonlySet<string>;

function findAnsweringNow({ webhooks }: AppliedState): Answering {
  return new Set(webhooks.filter(({ enabled }) => enabled).map(({ uid }) => uid));
}

function findAnsweringThen({ webhooks }: AppliedState, desired: readonly WebhookDefinition[]): Answering {
  const enabled = new Set(desired.filter(({ enabled }) => enabled).map(({ name }) => name));
  return new Set(webhooks.filter(({ name }) => enabled.has(name)).map(({ uid }) => uid));
}

function makeJudge(automation: AutomationDefinition | undefined, answering: Answering) {
  return (delivery: StoredDelivery): boolean =>
    automation !== undefined &&
    answering.has(delivery.webhookUid) &&
    judgeAutomation(automation, delivery).wouldTrigger;
}
