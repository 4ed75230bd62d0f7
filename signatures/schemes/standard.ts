import type { HmacDescription, SignatureScheme } from '../description.ts';

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, section "Signature scheme". */
export const standardWebhooks = {
  primitive: 'hmac',
  hash: 'sha256',
  encoding: 'base64',
  header: 'webhook-signature',
  list: { separator: ' ', keyValueSeparator: ',', key: 'v1' },
  content: '{id}.{timestamp}.{body}',
  timestamp: { header: 'webhook-timestamp', unit: 's', toleranceSeconds: 300 },
  idHeader: 'webhook-id',
  alternatives: [{ header: 'svix-signature', timestampHeader: 'svix-timestamp', idHeader: 'svix-id' }],
  key: { stripPrefix: 'whsec_', encoding: 'base64' },
} as const satisfies HmacDescription;

/** Svix sends the same under its own names, and under the standard's where a customer asks for it. */
export const svix = {
  ...standardWebhooks,
  header: 'svix-signature',
  timestamp: { header: 'svix-timestamp', unit: 's', toleranceSeconds: 300 },
  idHeader: 'svix-id',
  alternatives: [
    { header: 'webhook-signature', timestampHeader: 'webhook-timestamp', idHeader: 'webhook-id' },
  ],
} as const satisfies HmacDescription;

export const standardSchemes: readonly SignatureScheme[] = [
  {
    id: 'standard-webhooks',
    provider: 'Standard Webhooks',
    kind: 'standard',
    page: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    secretLocation: "the sender's webhook settings; it begins with whsec_",
    secretCommand: 'declare',
    note: 'A sender that takes a secret of yours gets one from hookmill secrets generate NAME --format whsec.',
    ...standardWebhooks,
  },
  {
    id: 'svix',
    provider: 'Svix',
    kind: 'standard',
    page: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    secretLocation: "the endpoint's page in the application portal, under Signing Secret",
    secretCommand: 'declare',
    ...svix,
  },
];
