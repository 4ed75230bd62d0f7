import type { AutomationDefinition } from '../definitions/automation-definition.ts';
import { type TestDelivery, type TriggerVerdict, testTrigger } from './judge-trigger.ts';

/** Why an automation would, or would not, start a run of a delivery. */
export interface AutomationVerdict {
  readonly automation: string;
  readonly enabled: boolean;
  /** Enabled, and at least one of its triggers fires. */
  readonly wouldTrigger: boolean;
  /** In the order of the definition. */
  readonly triggers: readonly TriggerVerdict[];
}

export function judgeAutomation(automation: AutomationDefinition, delivery: TestDelivery): AutomationVerdict {
  const { name, enabled } = automation;
  const triggers = automation.triggers.map(trigger => testTrigger(trigger, delivery));
  const fires = triggers.some(trigger => trigger.wouldTrigger);
  return { automation: name, enabled, wouldTrigger: enabled && fires, triggers };
}
