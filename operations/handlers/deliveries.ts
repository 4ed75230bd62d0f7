import {
  describePayloads,
  listDeliveries,
  readStoredBody,
  replayDelivery,
  showDelivery,
} from '../log/deliveries.ts';
import { listUnlogged } from '../log/list-rows.ts';
import { asFile, type HandlersOf, openFactory, toWanted } from './handler.ts';

/** Handles requests for deliveries. Those of other factories are unknown here. */
export const deliveryHandlers: HandlersOf<'deliveries'> = {
  listDeliveries: async (deps, { params: { factory }, query, permission }) => {
    const opened = openFactory(deps, factory);
    const { rows, ...end } = await listDeliveries(opened, toWanted(query), permission);
    return { body: { deliveries: rows, ...end } };
  },
  listUnlogged: async (deps, { params: { factory }, query }) => ({
    body: await listUnlogged(openFactory(deps, factory), query.webhook),
  }),
  showDelivery: async (deps, { params: { factory, delivery }, permission }) => ({
    body: await showDelivery(openFactory(deps, factory), delivery, permission),
  }),
  downloadPayload: async (deps, { params: { factory, delivery } }) => {
    const { content, isForm } = await readStoredBody(openFactory(deps, factory), delivery);
    return { body: { content, size: content.length, ...asFile(`${delivery}.${isForm ? 'txt' : 'json'}`) } };
  },
  replayDelivery: async (deps, { params: { factory, delivery }, body }) => {
    const runs = await replayDelivery(openFactory(deps, factory), delivery, body.automation);
    return { body: { runs } };
  },
  describePayloads: async (deps, { params: { factory, uid } }) => ({
    body: await describePayloads(openFactory(deps, factory), uid),
  }),
};
