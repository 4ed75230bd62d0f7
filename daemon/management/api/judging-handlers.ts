import { replayDelivery, showDelivery, testFilter } from '../../../operations/deliveries.ts';
import { describePayloads } from '../../../operations/payloads.ts';
import { runByHand } from '../../../operations/run-by-hand.ts';
import { explainWhy } from '../../../operations/why/why.ts';
import { renderOpenApi } from '../../../schema/api/openapi.ts';
import { apiRoutes, apiShapes } from '../../../schema/api/routes.ts';
import type { ThreadHandlers } from './handler.ts';
import { type OperationDeps, openFactory } from './operation-deps.ts';

/** The API's own document, which is rendered when it is first asked for. */
let document: unknown;

/** Handles requests that judge deliveries by automations, and the one for the API's own document. */
export function createJudgingHandlers(
  deps: OperationDeps,
): Pick<
  ThreadHandlers,
  | 'describeApi'
  | 'describePayloads'
  | 'explainWhy'
  | 'showDelivery'
  | 'replayDelivery'
  | 'testFilter'
  | 'runByHand'
> {
  return {
    describeApi: () => {
      document ??= renderOpenApi(apiRoutes, apiShapes);
      return { body: document };
    },
    describePayloads: async ({ params: { factory, uid } }) => ({
      body: await describePayloads(openFactory(deps, factory), uid),
    }),
    explainWhy: async ({ params: { factory, subject }, permission }) => {
      const problem = deps.problem;
      const daemonProblem = problem && {
        message: `it serves an older applied state: ${problem.message}`,
        remedy: 'Read the log of the daemon.',
      };
      const options = { baseUrl: deps.baseUrl, permission, daemonProblem };
      return { body: await explainWhy(openFactory(deps, factory), subject, options) };
    },
    showDelivery: async ({ params: { factory, delivery }, permission }) => ({
      body: await showDelivery(openFactory(deps, factory), delivery, permission),
    }),
    replayDelivery: async ({ params: { factory, delivery }, body }) => {
      const runs = await replayDelivery(openFactory(deps, factory), delivery, body.automation);
      return { body: { runs } };
    },
    runByHand: async ({ params: { factory }, body }) => {
      const { automation = '', draft, payload, headers = {} } = body;
      const event = { payload: Buffer.from(payload), headers };
      const started = await runByHand(openFactory(deps, factory), draft ?? automation, event);
      return { body: started, changed: draft?.name ?? automation };
    },
    testFilter: async ({ params: { factory }, body }) => {
      const { automation = '', triggers, delivery, payload, headers } = body;
      const tested = triggers ? { name: 'draft', enabled: true, triggers } : automation;
      const by = delivery === undefined ? { payload, headers } : { id: delivery };
      return { body: await testFilter(openFactory(deps, factory), tested, by) };
    },
  };
}
