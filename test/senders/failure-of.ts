import { inspect } from 'node:util';
import { ProviderError } from '../../senders/provider-client.ts';

/** Waits for the failure of a request to a provider. */
export async function failureOf(request: Promise<unknown>): Promise<ProviderError> {
  const outcome = await request.catch((reason: unknown) => reason);
  if (!(outcome instanceof ProviderError)) throw new Error(`no failure of a provider: ${inspect(outcome)}`);
  return outcome;
}
