import type { HeaderFilter } from '../filters/header-filter.ts';
import {
  type ClauseOutcome,
  explainHeaderFilter,
  explainPayloadFilter,
} from '../filters/payload-filter-explain.ts';
import type { EventHeaders } from '../headers.ts';
import type { AutomationDefinition, Trigger } from './automation-definition.ts';

/** Whether an automation would start a run for a delivery, and why. */
interface AutomationVerdict {
  readonly automation: string;
  readonly enabled: boolean;
  /** Enabled, and at least one of its triggers fires. */
  readonly wouldTrigger: boolean;
  /** The verdicts in the order of the definition. */
  readonly triggers: readonly TriggerVerdict[];
}

/** A delivery to judge. Without a `webhookUid`, every trigger treats it as a delivery to its own webhook. */
export interface JudgedDelivery {
  readonly webhookUid?: string | undefined;
  readonly payload: unknown;
  /** Undefined if none were kept. */
  readonly headers?: EventHeaders | undefined;
}

/** The verdict of a trigger on a delivery, whether or not its automation is enabled. It fires if all checks hold. */
export interface TriggerVerdict {
  readonly wouldTrigger: boolean;
  readonly webhookHolds: boolean;
  readonly payloadHolds: boolean;
  /** The payload check, clause by clause. */
  readonly clauses: readonly ClauseOutcome[];
  /** The header check, header by header, if the trigger has a header filter. */
  readonly headers?: HeaderVerdict;
}

export interface HeaderVerdict {
  readonly holds: boolean;
  readonly clauses: readonly ClauseOutcome[];
}

/** The automations, enabled or not, with a trigger for the webhook with this UID. */
export function listListeners<A extends { readonly triggers: readonly Pick<Trigger, 'filter'>[] }>(
  automations: readonly A[],
  uid: string,
): A[] {
  return automations.filter(({ triggers }) => triggers.some(trigger => isFor(trigger, uid)));
}

/** Whether a trigger is for the webhook with this UID. */
export function isFor({ filter }: Pick<Trigger, 'filter'>, uid: string): boolean {
  return filter.webhook_ids.includes(uid);
}

export function judgeTrigger(trigger: Pick<Trigger, 'filter'>, delivery: JudgedDelivery): TriggerVerdict {
  const { filter } = trigger;
  const { webhookUid, payload } = delivery;
  const webhookHolds = webhookUid === undefined || isFor(trigger, webhookUid);
  const clauses = explainPayloadFilter(filter.payload, payload);
  const payloadHolds = clauses.every(clause => clause.holds);
  const headers = filter.headers && judgeHeaders(filter.headers, delivery.headers ?? {});
  const wouldTrigger = webhookHolds && payloadHolds && headers?.holds !== false;
  return { wouldTrigger, webhookHolds, payloadHolds, clauses, ...(headers && { headers }) };
}

function judgeHeaders(filter: HeaderFilter, headers: EventHeaders): HeaderVerdict {
  const clauses = explainHeaderFilter(filter, headers);
  return { holds: clauses.every(({ holds }) => holds), clauses };
}

export function judgeAutomation(
  automation: AutomationDefinition,
  delivery: JudgedDelivery,
): AutomationVerdict {
  const { name, enabled } = automation;
  const triggers = automation.triggers.map(trigger => judgeTrigger(trigger, delivery));
  const fires = triggers.some(trigger => trigger.wouldTrigger);
  return { automation: name, enabled, wouldTrigger: enabled && fires, triggers };
}
