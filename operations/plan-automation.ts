import type { AppliedAutomation, AppliedState } from '../schema/applied-state.ts';
import { compareNames } from '../schema/name.ts';
import type { OpenFactory } from './factory.ts';
import { planAutomations } from './plan.ts';
import { readImpacts } from './read-impacts.ts';
import type { ChangeView } from './views/plan-view.ts';

/** Shows what creating the automation, or replacing the one of its name, would change. Nothing is written. */
export async function planAutomation(
  factory: OpenFactory,
  automation: AppliedAutomation,
): Promise<{ readonly state: AppliedState; readonly change: ChangeView }> {
  const state = await factory.readState();
  const others = state.automations.filter(({ name }) => name !== automation.name);
  const automations = [...others, automation].sort(compareNames);
  const planned = planAutomations(automations, state).filter(({ name }) => name === automation.name);
  const { impacts } = await readImpacts(factory, planned, state, { webhooks: state.webhooks, automations });
  const [change] = planned.map(change => {
    const impact = impacts.get(change);
    return { ...change, ...(impact && { impact }) };
  });
  if (!change) throw new Error('an automation is planned, but has no change');
  return { state, change };
}
