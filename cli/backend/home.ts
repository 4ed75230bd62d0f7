import { join } from 'node:path';
import { automationView, webhookView } from '../../operations/views/applied-views.ts';
import { deliveryDetail, deliveryView, runView } from '../../operations/views/delivery-views.ts';
import { readAppliedState } from '../../store/embedded/applied-states.ts';
import {
  type DeliveryLogReader,
  openDeliveryLogReader,
} from '../../store/embedded/delivery-log/read/reader.ts';
import type { Context } from '../context.ts';
import type { Backend } from './backend.ts';

/** Whoever can read the home may know everything but secrets. */
export function homeBackend({ home, factory, baseUrl }: Context): Backend {
  const state = () => readAppliedState(home, factory);
  const ask = async <T>(question: (log: DeliveryLogReader) => T): Promise<T> => {
    const log = openDeliveryLogReader(home.deliveryLogFile);
    try {
      return question(log);
    } finally {
      log.close();
    }
  };
  return {
    webhooks: async () => {
      const applied = await state();
      const webhooks = applied.webhooks.map(webhook => webhookView(applied, webhook, baseUrl));
      return { serial: applied.serial, webhooks };
    },
    automations: async () => {
      const applied = await state();
      const automations = applied.automations.map(automation => automationView(applied, automation));
      return { serial: applied.serial, automations };
    },
    deliveries: ({ webhook, outcome, limit }) =>
      ask(log =>
        log
          .listDeliveries({ factory, limit, ...(webhook && { webhook }), ...(outcome && { outcome }) })
          .map(delivery => deliveryView(delivery, 'manage')),
      ),
    delivery: id =>
      ask(log => {
        const delivery = log.findDelivery(id);
        if (!delivery) return undefined;
        const snapshot = delivery.snapshot === undefined ? undefined : log.readSnapshot(delivery.snapshot);
        const parts = { delivery, snapshot, payload: log.readPayload(id), runs: log.runsOfDelivery(id) };
        return deliveryDetail(parts, 'manage');
      }),
    payload: id => ask(log => log.readPayload(id)),
    runs: ({ automation, state, limit }) =>
      ask(log =>
        log
          .listRuns({ factory, limit, ...(automation && { automation }), ...(state && { state }) })
          .map(runView),
      ),
    run: id =>
      ask(log => {
        const run = log.findRun(id);
        return run && runView(run);
      }),
    runDirectory: id => join(home.runsDirectory, id),
  };
}
