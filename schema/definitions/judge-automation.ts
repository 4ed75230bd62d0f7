import type { AutomationDefinition } from './automation-definition.ts';
import { type JudgedDelivery, judgeTrigger, type TriggerVerdict } from './judge-trigger.ts';

/** Whether an automation would start a run for a delivery, and why. */
export interface AutomationVerdict {
  readonly automation: string;
  readonly enabled: boolean;
  /** Enabled, and at least one of its triggers fires. */
  readonly wouldTrigger: boolean;
  /** The verdicts in the order of the definition. */
  readonly triggers: readonly TriggerVerdict[];
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
