import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { BenchFactory } from '../support/factory.ts';

/** A request as a sender makes it. */
export interface SenderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An event with some JSON, and the secret with which it is sent to the URL of a webhook. */
interface SenderEvent {
  readonly url: string;
  readonly secret: string;
  readonly id: string;
  readonly body: string;
}

interface Sender {
  /** The keys of the webhook's definition. */
  readonly webhook: object;
  /** By default, one that has the sender's name. */
  readonly secret?: string;
  /** Makes what the request has besides JSON that is posted to the webhook. */
  readonly make: (event: SenderEvent) => Partial<SenderRequest>;
}

const github = { authMode: 'signature', signatureScheme: 'github' };

/** Senders that authenticate and identify in different ways. `startsRun` says whose deliveries start runs. */
const senders: Readonly<Record<string, Sender>> = {
  deploys: {
    webhook: { deliveryIdHeader: 'X-Event-Id' },
    make: ({ secret, id }) => ({ headers: { authorization: `Bearer ${secret}`, 'x-event-id': id } }),
  },
  videos: {
    webhook: { deliveryIdField: '$.n' },
    make: ({ secret }) => ({ headers: { authorization: `Bearer ${secret}` } }),
  },
  uptime: { webhook: { authMode: 'url_token' }, make: ({ url, secret }) => ({ url: `${url}/${secret}` }) },
  github: { webhook: github, make: event => ({ headers: signGithub(event) }) },
  forms: {
    webhook: { ...github, bodyFormat: 'form', payloadField: 'payload' },
    make: event => {
      const body = String(new URLSearchParams({ payload: event.body }));
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return { headers: { ...type, ...signGithub({ ...event, body }) }, body };
    },
  },
  orders: {
    webhook: { authMode: 'signature', signatureScheme: 'standard-webhooks' },
    secret: `whsec_${Buffer.from('soak-orders-secret-of-32-bytes--').toString('base64')}`,
    make: ({ secret, id, body }) => {
      const at = new Date();
      const signed = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new StandardWebhook(secret).sign(id, at, body),
      };
      return { headers: signed };
    },
  },
};

export const senderNames = Object.keys(senders);

function secretOf(name: string): string {
  return senders[name]?.secret ?? `soak-${name}-secret`;
}

/** Makes the request of a sender, by default with its own secret. */
export function makeRequest(
  sender: string,
  event: Omit<SenderEvent, 'secret'>,
  secret = secretOf(sender),
): SenderRequest {
  const { headers, ...own } = senders[sender]?.make({ ...event, secret }) ?? {};
  const { url, body } = { ...event, ...own };
  return { url, body, headers: { 'content-type': 'application/json', ...headers } };
}

function signGithub({ secret, id, body }: SenderEvent): Record<string, string> {
  const mac = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-github-event': 'push', 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${mac}` };
}

/** Tells whether a delivery starts a run, whatever the number of changes. */
export function startsRun(sender: string, payload: { readonly kind: string }): boolean {
  return payload.kind === 'failed' && (sender === 'deploys' || sender === 'github');
}

/** Sets the secrets, and writes the definitions of all senders and the automations. */
export async function writeDefinitions(factory: BenchFactory): Promise<void> {
  for (const [name, { webhook }] of Object.entries(senders)) {
    const secretName = `SOAK_${name.toUpperCase()}`;
    await factory.hookmillWith(secretOf(name), 'secrets', 'set', secretName);
    factory.write(`webhooks/${name}.yaml`, { ...webhook, secretName });
  }
  writeAutomations(factory, 0);
}

/** Writes the automations as they are after so many changes: each changes prompts and filters, but not what matches. */
export function writeAutomations(
  { writeAutomation }: Pick<BenchFactory, 'writeAutomation'>,
  changes: number,
): void {
  const isOdd = changes % 2 === 1;
  const prompt = `Find out what failed.${isOdd ? ' Then mend it.' : ''}`;
  const payload = { kind: isOdd ? ['failed', 'broken'] : ['failed'] };
  const headers = { 'X-GitHub-Event': ['push'] };
  writeAutomation('triage', { webhook: 'deploys', payload }, prompt);
  writeAutomation('pushes', { webhook: 'github', payload, headers }, prompt);
}
