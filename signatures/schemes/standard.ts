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
    ...svix,
  },
];
