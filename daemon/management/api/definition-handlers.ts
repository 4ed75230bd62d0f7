import { describeApplied } from '../../../operations/audit.ts';
import { planAutomation } from '../../../operations/plan-automation.ts';
import { applySentDefinitions, planSentDefinitions } from '../../../operations/sent-definitions.ts';
import { webhookView } from '../../../operations/views/applied-views.ts';
import { planView } from '../../../operations/views/plan-view.ts';
import type { ThreadHandlers } from './handler.ts';
import { type OperationDeps, openFactory } from './operation-deps.ts';

/** Handles plans and applies: of definition files that the command line sends, and of a draft. */
export function createDefinitionHandlers(
  deps: OperationDeps,
): Pick<ThreadHandlers, 'plan' | 'planAutomation' | 'apply'> {
  const { baseUrl } = deps;
  return {
    plan: async ({ params: { factory }, body: { files, impact } }) => {
      const opened = openFactory(deps, factory);
      const { state, changes, impacts, diagnostics } = await planSentDefinitions(opened, files, impact);
      return { body: { ...planView(state, changes, baseUrl, impacts), diagnostics }, serial: state.serial };
    },

    planAutomation: async ({ params: { factory }, body }) => {
      const { state, change } = await planAutomation(openFactory(deps, factory), body);
      return { body: { serial: state.serial, change }, serial: state.serial };
    },

    apply: async ({ params: { factory }, body: { files, ...wanted }, ifSerial }) => {
      const change = applySentDefinitions(openFactory(deps, factory), files, { ...wanted, ifSerial });
      const { state, changes, impacts, diagnostics, result } = await change;
      const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl));
      const answer = { ...planView(state, changes, baseUrl, impacts), diagnostics, result, webhooks };
      const changed = result === 'applied' ? describeApplied(state, changes) : null;
      return { body: answer, serial: state.serial, changed };
    },
  };
}
