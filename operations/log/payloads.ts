import type { z } from 'zod';
import type * as answers from '../schema/api/answers.ts';
import { listObservedPaths } from '../schema/payloads/observed-paths.ts';
import type { OpenFactory } from './factory.ts';
import { openHistory } from './history.ts';
import { pastBytesMax } from './judge-automations.ts';
import { observeWebhook } from './observe-webhook.ts';
import { requireWebhook } from './require-applied.ts';

export type PayloadsView = z.output<typeof answers.payloadsAnswer>;

/** Describes the payloads of a webhook's last accepted deliveries. Fails with `webhook-unknown`. */
export async function describePayloads(factory: OpenFactory, uid: string): Promise<PayloadsView> {
  const webhook = requireWebhook(await factory.readState(), uid);
  const observation = await observeWebhook(openHistory(factory), webhook, pastBytesMax);
  return { webhook: webhook.name, uid, ...listObservedPaths(observation) };
}
