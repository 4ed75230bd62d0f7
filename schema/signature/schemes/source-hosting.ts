import type { SignatureScheme } from '../description.ts';

export const sourceHostingSchemes: readonly SignatureScheme[] = [
  {
    id: 'github',
    provider: 'GitHub',
    kind: 'source hosting',
    page: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    secretLocation: 'the webhook\'s "Secret" field: you choose it there',
    primitive: 'hmac',
    hash: 'sha256',
    encoding: 'hex',
    header: 'X-Hub-Signature-256',
    prefix: 'sha256=',
    content: '{body}',
    deliveryIdHeader: 'X-GitHub-Delivery',
  },
];
