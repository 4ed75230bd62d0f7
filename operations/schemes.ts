import { schemes } from '../signatures/schemes.ts';
import { isStandardWebhooks } from '../signatures/standard-webhooks.ts';
import { summariseScheme } from '../signatures/summary.ts';

/** Lists the signature schemes, with what somebody needs who sets up a provider. */
export function listSchemes() {
  return schemes.map(scheme => {
    const { id, provider, kind, page, secretLocation, secretCommand, checked } = scheme;
    const blankSecret: 'generated' | 'declared' = isStandardWebhooks(scheme) ? 'generated' : 'declared';
    const summary = summariseScheme(scheme);
    return { id, provider, kind, page, secretLocation, secretCommand, blankSecret, checked, summary };
  });
}
