import { renderOpenApi } from '../../schema/api/openapi.ts';
import { apiRoutes, apiShapes } from '../../schema/api/routes.ts';
import { describePayloads, replayDelivery, showDelivery, testFilter } from '../log/deliveries.ts';
import { runAgain } from '../log/run-again.ts';
import { runByHand } from '../log/run-by-hand.ts';
import { testOnStored } from '../log/test-on-stored.ts';
import { explainWhy } from '../why/why.ts';
import { type Handlers, openFactory } from './handler.ts';

/** Handles requests that judge deliveries by automations, and the one for the API's own document. */
export const judgingHandlers: Pick<
  Handlers,
  | ('describeApi' | 'describePayloads' | 'explainWhy' | 'showDelivery')
  | ('replayDelivery' | 'testFilter' | 'testOnStored' | 'runByHand' | 'runAgain')
> = {
  describeApi: () => ({ body: renderOpenApi(apiRoutes, apiShapes) }),
  describePayloads: async (deps, { params: { factory, uid } }) => ({
    body: await describePayloads(openFactory(deps, factory), uid),
  }),
  explainWhy: async (deps, { params: { factory, subject }, permission }) => {
    const daemonProblem = await deps.findDaemonProblem();
    const options = { baseUrl: deps.baseUrl, permission, daemonProblem };
    return { body: await explainWhy(openFactory(deps, factory), subject, options) };
  },
  showDelivery: async (deps, { params: { factory, delivery }, permission }) => ({
    body: await showDelivery(openFactory(deps, factory), delivery, permission),
  }),
  replayDelivery: async (deps, { params: { factory, delivery }, body }) => {
    const runs = await replayDelivery(openFactory(deps, factory), delivery, body.automation);
    return { body: { runs } };
  },
  runByHand: async (deps, { params: { factory }, body }) => {
    const { automation = '', draft, payload, headers = {}, evenIfDisabled } = body;
    const event = { payload: Buffer.from(payload), headers, evenIfDisabled };
    const started = await runByHand(openFactory(deps, factory), draft ?? automation, event);
    return { body: started, changed: draft?.name ?? automation };
  },
  runAgain: async (deps, { params: { factory, run }, body }) => ({
    body: await runAgain(openFactory(deps, factory), run, body),
  }),
  testFilter: async (deps, { params: { factory }, body }) => {
    const { automation = '', triggers, delivery, payload, headers } = body;
    const tested = triggers ? { name: 'draft', enabled: true, triggers } : automation;
    const by = delivery === undefined ? { payload, headers } : { id: delivery };
    return { body: await testFilter(openFactory(deps, factory), tested, by) };
  },
  testOnStored: async (deps, { params: { factory }, body }) => {
    const { automation = '', triggers, draft, ...wanted } = body;
    const tested = draft ?? (triggers ? { name: 'draft', enabled: true, triggers } : automation);
    return { body: await testOnStored(openFactory(deps, factory), tested, wanted) };
  },
};
