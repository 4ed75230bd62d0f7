import type { SignatureScheme } from '../description.ts';
import { hexOfBody, standardWebhooks } from './shapes.ts';

/** Banking and blockchains. */
export const financeSchemes: readonly SignatureScheme[] = [
  {
    id: 'lithic',
    provider: 'Lithic',
    kind: 'banking',
    page: 'https://docs.lithic.com/docs/events-api',
    secretLocation: "the event subscription's secret, from the dashboard or the API; it starts with whsec_",
    secretCommand: 'declare',
    checked: { on: '2026-11-21', against: 'lithic 0.145.0' },
    ...standardWebhooks,
  },
  {
    id: 'increase',
    provider: 'Increase',
    kind: 'banking',
    page: 'https://increase.com/documentation/webhooks',
    secretLocation: 'you choose it; enter it as the shared secret of the event subscription',
    secretCommand: 'generate',
    checked: { on: '2026-11-21', against: 'the tests of increase-typescript at aac4760' },
    note: 'Standard Webhooks, except that the secret is used as the key without decoding.',
    ...standardWebhooks,
    key: { encoding: 'utf8' },
  },
  {
    id: 'alchemy',
    provider: 'Alchemy Notify',
    kind: 'blockchain',
    page: 'https://github.com/alchemyplatform/webhook-examples',
    secretLocation: 'the webhook\'s page, under "Signing key"',
    secretCommand: 'declare',
    checked: { on: '2026-11-21', against: "Alchemy's example at 28a2888 (rule only)" },
    ...hexOfBody,
    header: 'X-Alchemy-Signature',
  },
];
