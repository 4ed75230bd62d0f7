import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { BenchFactory } from '../support/factory.ts';

/** A request as a sender makes it. */
export interface SenderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook, and how its sender makes a request with a secret for an event with an ID and some JSON. */
interface Sender {
  readonly definition: object;
  readonly secret: string;
  readonly make: (event: { url: string; secret: string; id: string; body: string }) => SenderRequest;
}

const isJson = { 'content-type': 'application/json' };
const isForm = { 'content-type': 'application/x-www-form-urlencoded' };

/** Senders that authenticate and identify in different ways. `startsRun` says whose deliveries start runs. */
export const senders: Readonly<Record<string, Sender>> = {
  deploys: {
    definition: { deliveryIdHeader: 'X-Event-Id' },
    secret: 'soak-deploys-secret',
    make: ({ url, secret, id, body }) => ({
      url,
      headers: { ...isJson, authorization: `Bearer ${secret}`, 'x-event-id': id },
      body,
    }),
  },
  videos: {
    definition: { deliveryIdField: '$.n' },
    secret: 'soak-videos-secret',
    make: ({ url, secret, body }) => ({
      url,
      headers: { ...isJson, authorization: `Bearer ${secret}` },
      body,
    }),
  },
  uptime: {
    definition: { authMode: 'url_token' },
    secret: 'soak-uptime-secret',
    make: ({ url, secret, body }) => ({ url: `${url}/${secret}`, headers: isJson, body }),
  },
  github: {
    definition: { authMode: 'signature', signatureScheme: 'github' },
    secret: 'soak-github-secret',
    make: ({ url, secret, id, body }) => ({
      url,
      headers: { ...isJson, ...signGithub(secret, id, body) },
      body,
    }),
  },
  forms: {
    definition: {
      ...{ authMode: 'signature', signatureScheme: 'github' },
      ...{ bodyFormat: 'form', payloadField: 'payload' },
    },
    secret: 'soak-forms-secret',
    make: ({ url, secret, id, body }) => {
      const form = String(new URLSearchParams({ payload: body }));
      return { url, headers: { ...isForm, ...signGithub(secret, id, form) }, body: form };
    },
  },
  orders: {
    definition: { authMode: 'signature', signatureScheme: 'standard-webhooks' },
    secret: `whsec_${Buffer.from('soak-orders-secret-of-32-bytes--').toString('base64')}`,
    make: ({ url, secret, id, body }) => {
      const at = new Date();
      const signed = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new StandardWebhook(secret).sign(id, at, body),
      };
      return { url, headers: { ...isJson, ...signed }, body };
    },
  },
};

function signGithub(secret: string, id: string, body: string): Record<string, string> {
  const mac = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-github-event': 'push', 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${mac}` };
}

/** Tells whether a delivery starts a run, whatever the number of changes. */
export function startsRun(sender: string, payload: { readonly kind: string }): boolean {
  return payload.kind === 'failed' && (sender === 'deploys' || sender === 'github');
}

/** Sets the secrets, and writes the definitions of all senders and the automations. */
export async function writeDefinitions(factory: BenchFactory): Promise<void> {
  for (const [name, { definition, secret }] of Object.entries(senders)) {
    const secretName = `SOAK_${name.toUpperCase()}`;
    await factory.hookmillWith(secret, 'secrets', 'set', secretName);
    factory.write(`webhooks/${name}.yaml`, JSON.stringify({ ...definition, secretName }));
  }
  writeAutomations(factory, 0);
}

/** Writes the automations as they are after so many changes: each changes prompts and filters, but not what matches. */
export function writeAutomations({ write }: Pick<BenchFactory, 'write'>, changes: number): void {
  const isOdd = changes % 2 === 1;
  const automation = (webhook: string, filter: object) => ({
    prompt: `Find out what failed.${isOdd ? ' Then mend it.' : ''}`,
    triggers: [{ provider: 'webhook', event: 'received', filter: { webhook, ...filter } }],
  });
  const payload = { kind: isOdd ? ['failed', 'broken'] : ['failed'] };
  const files = {
    triage: automation('deploys', { payload }),
    pushes: automation('github', { payload, headers: { 'X-GitHub-Event': ['push'] } }),
  };
  for (const [name, content] of Object.entries(files))
    write(`automations/${name}.yaml`, JSON.stringify(content));
}
