import type { z } from 'zod';
import type * as answers from '../../schema/api/answers.ts';
import { listObservedPaths } from '../../schema/payloads/observed-paths.ts';
import { requireNamedWebhook } from '../applied/require-applied.ts';
import type { OpenFactory } from '../factory.ts';
import { openHistory, pastBytesMax } from '../impact/history.ts';
import { observeWebhook } from '../impact/observe-webhook.ts';

export type PayloadsView = z.output<typeof answers.payloadsAnswer>;

/** Describes the payloads of a webhook's last accepted deliveries, by its UID or name. Fails with `webhook-unknown`. */
export async function describePayloads(factory: OpenFactory, uidOrName: string): Promise<PayloadsView> {
  const webhook = requireNamedWebhook(await factory.readState(), uidOrName);
  const observation = await observeWebhook(openHistory(factory), webhook, pastBytesMax);
  return { webhook: webhook.name, uid: webhook.uid, ...listObservedPaths(observation) };
}
