import type { AppliedState } from '../../schema/applied-state.ts';
import { ingressUrl } from '../../schema/ingress-url.ts';
import type { Context } from '../context.ts';

/** Lists the applied webhooks with their ingress URLs. */
export function listUrls(
  { webhooks }: Pick<AppliedState, 'webhooks'>,
  { baseUrl }: Pick<Context, 'baseUrl'>,
): { name: string; url: string }[] {
  return webhooks.map(webhook => ({ name: webhook.name, url: ingressUrl(baseUrl, webhook) }));
}
