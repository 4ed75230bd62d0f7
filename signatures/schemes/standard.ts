import type { SignatureScheme } from '../description.ts';
import { standardWebhooks, svix } from './shapes.ts';

export const standardSchemes: readonly SignatureScheme[] = [
  {
    id: 'standard-webhooks',
    provider: 'Standard Webhooks',
    kind: 'standard',
    page: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    secretLocation: "the sender's webhook settings; it starts with whsec_",
    secretCommand: 'declare',
    checked: { on: '2026-11-21', against: 'the specification at b2fa7b8, standardwebhooks 1.1.1' },
    note: 'If the sender accepts a secret that you choose, run hookmill secrets generate NAME --format whsec.',
    ...standardWebhooks,
  },
  {
    id: 'svix',
    provider: 'Svix',
    kind: 'standard',
    page: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    secretLocation: "the endpoint's page in the application portal, under Signing Secret",
    secretCommand: 'declare',
    checked: { on: '2026-11-21', against: 'svix 1.99.1 and 2.5.0' },
    ...svix,
  },
];
