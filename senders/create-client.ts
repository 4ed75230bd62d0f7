import type { WebhookSender } from '../schema/definitions/sender-keys.ts';
import { type ProviderClient, ProviderError } from './provider-client.ts';

export interface ClientOptions {
  readonly isTrusted: boolean;
  readonly nowMs: () => number;
}

/** Creates the client for the API of a provider. */
export function createProviderClient(
  { provider }: WebhookSender,
  _credential: string,
  _options: ClientOptions,
): ProviderClient {
  throw new ProviderError('unreachable', `no client for ${provider} yet`);
}
