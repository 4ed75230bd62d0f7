import { z } from 'zod';
import { outcomes } from '../delivery.ts';
import { webhookAnswer, webhookDetailAnswer } from './definitions.ts';
import { serial, time } from './fields.ts';

export const webhooksAnswer = z.strictObject({ serial, webhooks: z.array(webhookAnswer) });
/** A generated secret. It is shown once: nothing stores it in plain text, and no other answer contains it. */
export const revealedAnswer = z.strictObject({
  secret: z.string().optional(),
  url: z.string().optional().describe('The ingress URL with its token. Only for a url_token webhook.'),
});
export const changedWebhookAnswer = z.strictObject({
  webhook: webhookDetailAnswer,
  revealed: revealedAnswer.nullable().describe('The generated secret, shown only in this answer.'),
});
/** The rotation of a webhook's secret that has begun. No answer has the new value. */
export const secretRotationAnswer = z.strictObject({
  webhook: z.string(),
  secretName: z.string(),
  serial,
  until: time.describe('When the value before ends, unless the rotation is ended first.'),
  isContinued: z.boolean().describe('true: an overlap was running already, and no other value was set.'),
});
export const endedRotationAnswer = z.strictObject({ serial });
/** The answer of the ingress to a test. */
export const sentTestAnswer = z.strictObject({
  status: z.int().describe('The HTTP status with which the ingress answered.'),
  outcome: z
    .enum(outcomes)
    .nullable()
    .describe('null: the request has no row in the log, as one to a disabled webhook or above a rate limit.'),
  deliveryId: z.string().nullable().describe('The delivery as the log has it, also a refused one.'),
  reason: z.string().nullable().describe('Why it was refused.'),
  remedy: z.string().nullable().describe('What to do about the reason, if it is known.'),
  runs: z.int().describe('How many runs it started.'),
  tookMs: z.number().describe('The time until the answer, in ms.'),
});
export const schemeAnswer = z.strictObject({
  id: z.string(),
  provider: z.string(),
  kind: z.string(),
  page: z.string(),
  secretLocation: z.string(),
  secretCommand: z
    .enum(['generate', 'set', 'declare'])
    .describe(
      'Who creates the secret: `generate`: hookmill; `set`: the provider; `declare`: the provider, once it has the URL.',
    ),
  blankSecret: z
    .enum(['generated', 'declared'])
    .describe(
      'Whether hookmill generates a secret that a new webhook leaves blank, or somebody supplies it later.',
    ),
  checked: z
    .strictObject({ on: z.string(), against: z.string() })
    .describe('The day on which the scheme was last compared with its source, and that source.'),
  summary: z.array(z.strictObject({ label: z.string(), text: z.string() })),
});
export const schemesAnswer = z.strictObject({ schemes: z.array(schemeAnswer) });
