import { expect } from 'vitest';
import { bearerOf } from '../support/daemon.ts';
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

/** Posts a body, expects it to be accepted, and returns the delivery ID. */
export async function deliver(webhook: SampleWebhook, body: string | object): Promise<string> {
  const answer = await webhook.post(body);
  expect(answer.status, answer.body).toBe(202);
  return answer.deliveryId ?? '';
}
