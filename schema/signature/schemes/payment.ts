import type { SignatureScheme } from '../description.ts';

export const paymentSchemes: readonly SignatureScheme[] = [
  {
    id: 'stripe',
    provider: 'Stripe',
    kind: 'payment',
    page: 'https://docs.stripe.com/webhooks/signature',
    secretLocation: 'Workbench, Webhooks, the endpoint\'s "Signing secret"',
    note: 'The key is the whole secret, whsec_ included.',
    primitive: 'hmac',
    hash: 'sha256',
    encoding: 'hex',
    header: 'Stripe-Signature',
    list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
    content: '{timestamp}.{body}',
    timestamp: { field: 't', unit: 's', toleranceSeconds: 300 },
  },
];
