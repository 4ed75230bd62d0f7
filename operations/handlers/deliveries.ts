import {
  describePayloads,
  listDeliveries,
  readStoredBody,
  replayDelivery,
  showDelivery,
} from '../log/deliveries.ts';
import { listUnlogged } from '../log/list-rows.ts';
import { asFile, type HandlersOf, toWanted } from './handler.ts';

/** Handles requests for deliveries. Those of other factories are unknown here. */
export const deliveryHandlers: HandlersOf<'deliveries'> = {
  listDeliveries: async ({ factory }, { query, permission }) => {
    const { rows, ...end } = await listDeliveries(factory, toWanted(query), permission);
    return { body: { deliveries: rows, ...end } };
  },
  listUnlogged: async ({ factory }, { query }) => ({ body: await listUnlogged(factory, query.webhook) }),
  showDelivery: async ({ factory }, { params: { delivery }, permission }) => ({
    body: await showDelivery(factory, delivery, permission),
  }),
  downloadPayload: async ({ factory }, { params: { delivery } }) => {
    const { content, isForm } = await readStoredBody(factory, delivery);
    return { body: { content, size: content.length, ...asFile(`${delivery}.${isForm ? 'txt' : 'json'}`) } };
  },
  replayDelivery: async ({ factory }, { params: { delivery }, body }) => {
    const runs = await replayDelivery(factory, delivery, body.automation);
    return { body: { runs } };
  },
  describePayloads: async ({ factory }, { params: { uid } }) => ({
    body: await describePayloads(factory, uid),
  }),
};
