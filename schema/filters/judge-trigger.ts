import type { Trigger } from '../definitions/automation-definition.ts';
import { type ClauseOutcome, explainPayloadFilter } from './payload-filter-explain.ts';

/** A delivery to judge. Without a `webhookUid`, every trigger treats it as a delivery to its own webhook. */
export interface JudgedDelivery {
  readonly webhookUid?: string | undefined;
  readonly payload: unknown;
}

/** How a trigger judges a delivery, whether or not its automation is enabled. It fires if both checks hold. */
export interface TriggerVerdict {
  readonly wouldTrigger: boolean;
  readonly webhookHolds: boolean;
  readonly payloadHolds: boolean;
  /** The payload check, clause by clause. */
  readonly clauses: readonly ClauseOutcome[];
}

export function judgeTrigger({ filter }: Pick<Trigger, 'filter'>, delivery: JudgedDelivery): TriggerVerdict {
  const { webhookUid, payload } = delivery;
  const webhookHolds = webhookUid === undefined || filter.webhook_ids.includes(webhookUid);
  const clauses = explainPayloadFilter(filter.payload, payload);
  const payloadHolds = clauses.every(clause => clause.holds);
  return { wouldTrigger: webhookHolds && payloadHolds, webhookHolds, payloadHolds, clauses };
}
