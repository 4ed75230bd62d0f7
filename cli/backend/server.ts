import { apiPageMax } from '../../schema/api/requests.ts';
import type { Backend } from './backend.ts';
import { unknownWebhook } from './find-webhook.ts';
import { callServer, type Server } from './server-client.ts';

export function serverBackend(server: Server, factory: string): Backend {
  const params = { factory };
  const webhooks = () => callServer(server, 'listWebhooks', { params });
  return {
    webhooks,
    automations: () => callServer(server, 'listAutomations', { params }),
    deliveries: async ({ webhook: name, outcome, limit }) => {
      const webhook = name === undefined ? undefined : await uidOf(name);
      return pages(limit, async paging => {
        const query = { webhook, outcome, ...paging };
        const { deliveries, next } = await callServer(server, 'listDeliveries', { params, query });
        return { rows: deliveries, next };
      });
    },
    delivery: id => callServer(server, 'showDelivery', { params: { ...params, delivery: id } }),
    payload: id => callServer(server, 'downloadPayload', { params: { ...params, delivery: id } }),
    runs: ({ automation, state, limit }) =>
      pages(limit, async paging => {
        const query = { automation, state, ...paging };
        const { runs, next } = await callServer(server, 'listRuns', { params, query });
        return { rows: runs, next };
      }),
    run: id => callServer(server, 'showRun', { params: { ...params, run: id } }),
    runDirectory: () => undefined,
  };

  async function uidOf(name: string): Promise<string> {
    const { webhooks: applied } = await webhooks();
    const webhook = applied.find(webhook => webhook.name === name);
    if (webhook) return webhook.uid;
    throw unknownWebhook(name, factory, applied);
  }
}

interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

/** The first rows of a list, page after page. */
async function pages<T>(
  limit: number,
  pageAt: (paging: { limit: string; cursor: string | undefined }) => Promise<Page<T>>,
): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null | undefined;
  while (rows.length < limit && cursor !== null) {
    const size = Math.min(limit - rows.length, apiPageMax);
    const page = await pageAt({ limit: String(size), cursor });
    rows.push(...page.rows);
    cursor = page.next;
  }
  return rows;
}
