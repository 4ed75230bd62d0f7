import type { z } from 'zod';
import type * as answers from '../../schema/api/answers.ts';
import { listObservedPaths } from '../../schema/payloads/observed-paths.ts';
import { requireWebhook } from '../applied/require-applied.ts';
import type { OpenFactory } from '../factory.ts';
import { openHistory, pastBytesMax } from '../impact/history.ts';
import { observeWebhook } from '../impact/observe-webhook.ts';

export type PayloadsView = z.output<typeof answers.payloadsAnswer>;

/** Describes the payloads of a webhook's last accepted deliveries. Fails with `webhook-unknown`. */
export async function describePayloads(factory: OpenFactory, uid: string): Promise<PayloadsView> {
  const webhook = requireWebhook(await factory.readState(), uid);
  const observation = await observeWebhook(openHistory(factory), webhook, pastBytesMax);
  return { webhook: webhook.name, uid, ...listObservedPaths(observation) };
}
