import { describeApplied } from '../access/audit.ts';
import { exportDefinitions } from '../applied/export-definitions.ts';
import { applySentDefinitions, planSentDefinitions } from '../applied/sent-definitions.ts';
import { webhookView } from '../views/applied-views.ts';
import { planView } from '../views/plan-view.ts';
import { type HandlersOf, showState } from './handler.ts';

/** Handles requests for definition files that the command line sends. */
export const definitionHandlers: HandlersOf<'definitions'> = {
  exportDefinitions: async ({ factory }, { query: { fixtures } }) =>
    showState(await exportDefinitions(factory, { fixtures: fixtures !== undefined })),
  plan: async ({ factory, baseUrl }, { body: { files, ...wanted } }) => {
    const { state, changes, impacts, diagnostics } = await planSentDefinitions(factory, files, wanted);
    return showState({ ...planView(state, changes, baseUrl, impacts), diagnostics });
  },
  apply: async (deps, { body: { files, ...wanted }, ifSerial }) => {
    const change = applySentDefinitions(deps.factory, files, { ...wanted, ifSerial });
    const { state, changes, impacts, diagnostics, result } = await change;
    const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, deps.baseUrl));
    const answer = { ...planView(state, changes, deps.baseUrl, impacts), diagnostics, result, webhooks };
    const changed = result === 'applied' ? describeApplied(state, changes) : null;
    return { body: answer, serial: state.serial, changed };
  },
};
