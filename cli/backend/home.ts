import { listAutomations } from '../../operations/automations.ts';
import { listDeliveries, readPayload, showDelivery } from '../../operations/deliveries.ts';
import { listRuns, showRun } from '../../operations/runs.ts';
import { listWebhooks } from '../../operations/webhooks.ts';
import { type Context, openFactory } from '../context.ts';
import type { Backend } from './backend.ts';

/** A backend over a home. Whoever can read the home may see everything but secrets. */
export function homeBackend(context: Context): Backend {
  const factory = openFactory(context);
  return {
    webhooks: () => listWebhooks(factory, context.baseUrl),
    automations: () => listAutomations(factory),
    deliveries: async wanted => (await listDeliveries(factory, wanted, 'manage')).rows,
    delivery: id => showDelivery(factory, id, 'manage'),
    payload: id => readPayload(factory, id),
    runs: async wanted => (await listRuns(factory, wanted)).rows,
    run: id => showRun(factory, id),
    runDirectory: id => context.store.runFiles.locate(id),
  };
}
