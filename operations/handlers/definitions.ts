import { describeApplied } from '../access/audit.ts';
import { exportDefinitions } from '../applied/export-definitions.ts';
import { applySentDefinitions, planSentDefinitions } from '../applied/sent-definitions.ts';
import { planAutomation } from '../impact/read-impacts.ts';
import { webhookView } from '../views/applied-views.ts';
import { planView } from '../views/plan-view.ts';
import { type Handlers, openFactory } from './handler.ts';

/** Handles exports, plans and applies: of definition files that the command line sends, and of a draft. */
export const definitionHandlers: Pick<Handlers, 'exportDefinitions' | 'plan' | 'planAutomation' | 'apply'> = {
  exportDefinitions: async (deps, { params: { factory }, query: { fixtures } }) => {
    const body = await exportDefinitions(openFactory(deps, factory), { fixtures: fixtures !== undefined });
    return { body, serial: body.serial };
  },

  plan: async (deps, { params: { factory }, body: { files, ...wanted } }) => {
    const opened = openFactory(deps, factory);
    const { state, changes, impacts, diagnostics } = await planSentDefinitions(opened, files, wanted);
    return {
      body: { ...planView(state, changes, deps.baseUrl, impacts), diagnostics },
      serial: state.serial,
    };
  },

  planAutomation: async (deps, { params: { factory }, body }) => {
    const { state, change } = await planAutomation(openFactory(deps, factory), body);
    return { body: { serial: state.serial, change }, serial: state.serial };
  },

  apply: async (deps, { params: { factory }, body: { files, ...wanted }, ifSerial }) => {
    const change = applySentDefinitions(openFactory(deps, factory), files, { ...wanted, ifSerial });
    const { state, changes, impacts, diagnostics, result } = await change;
    const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, deps.baseUrl));
    const answer = { ...planView(state, changes, deps.baseUrl, impacts), diagnostics, result, webhooks };
    const changed = result === 'applied' ? describeApplied(state, changes) : null;
    return { body: answer, serial: state.serial, changed };
  },
};
