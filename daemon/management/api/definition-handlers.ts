import { applySentDefinitions, planSentDefinitions } from '../../../operations/sent-definitions.ts';
import { webhookView } from '../../../operations/views/applied-views.ts';
import { planView } from '../../../operations/views/plan-view.ts';
import { type ApiDeps, openServedFactory, serveChange } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

/** Handles plans and applies of definition files that the command line sends. */
export function createDefinitionHandlers(deps: ApiDeps): Pick<ApiHandlers, 'plan' | 'apply'> {
  const { baseUrl } = deps;
  return {
    plan: async ({ params: { factory }, body: { files } }) => {
      const opened = openServedFactory(deps, factory);
      const { state, changes, diagnostics } = await planSentDefinitions(opened, files);
      return { body: { ...planView(state, changes, baseUrl()), diagnostics }, serial: state.serial };
    },

    apply: async ({ params: { factory }, body: { files, ...wanted }, ifSerial }) => {
      const change = applySentDefinitions(openServedFactory(deps, factory), files, { ...wanted, ifSerial });
      const { state, changes, diagnostics, result } = await serveChange(deps, change);
      const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl()));
      const answer = { ...planView(state, changes, baseUrl()), diagnostics, result, webhooks };
      return { body: answer, serial: state.serial };
    },
  };
}
