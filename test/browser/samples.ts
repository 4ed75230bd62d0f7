import { expect } from 'vitest';
import { bearerOf } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, send } from '../support/http.ts';
import type { Api } from './browser.ts';

export interface SampleWebhook {
  readonly uid: string;
  readonly url: string;
  readonly secret: string;
  post(body: string | object, secret?: string): Promise<Answer>;
}

interface Created {
  readonly webhook: { readonly uid: string; readonly url: string };
  readonly revealed: { readonly secret: string } | null;
}

/** Creates a webhook with a bearer token. */
export async function createWebhook(api: Api, name: string, keys: object = {}): Promise<SampleWebhook> {
  const { webhook, revealed } = await api<Created>('POST', '/webhooks', { name, ...keys });
  const secret = revealed?.secret ?? '';
  return { ...webhook, secret, post: (body, given = secret) => post(webhook.url, body, given) };
}

export async function post(url: string, body: string | object, secret: string): Promise<Answer> {
  return send(url, {
    headers: bearerOf(secret),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function triggerOn(uid: string, payload?: object) {
  return {
    provider: 'webhook',
    event: 'received',
    filter: { webhook_ids: [uid], ...(payload && { payload }) },
  };
}

/** Creates an automation on deliveries of a webhook, all of them or those with such a payload. */
export async function automate(api: Api, name: string, uid: string, payload?: object, keys = {}) {
  await api('POST', '/automations', { name, prompt: 'Look.', triggers: [triggerOn(uid, payload)], ...keys });
}

export interface ListedRun {
  readonly id: string;
  readonly state: string;
}

/** Lists the runs of the factory, newest first. */
export async function listRuns(api: Api): Promise<readonly ListedRun[]> {
  return (await api<{ runs: readonly ListedRun[] }>('GET', '/runs')).runs;
}

/** Posts a body, expects it to be accepted, and returns the delivery ID. */
export async function deliver(webhook: SampleWebhook, body: string | object): Promise<string> {
  const answer = await webhook.post(body);
  expect(answer.status, answer.body).toBe(202);
  return answer.deliveryId ?? '';
}

interface Health {
  readonly webhooks: readonly {
    readonly uid: string;
    readonly health: { readonly state: string } | null;
    readonly tallies: readonly object[];
  }[];
}

/** Waits until the daemon has looked at webhooks and their health is this. */
export async function waitForHealth(api: Api, states: Readonly<Record<string, string>>): Promise<void> {
  await eventually(async () => {
    const { webhooks } = await api<Health>('GET', '/health');
    return Object.entries(states).every(([uid, state]) => {
      const found = webhooks.find(webhook => webhook.uid === uid);
      return found && found.tallies.length > 0 && found.health?.state === state;
    });
  });
}
