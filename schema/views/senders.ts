import { z } from 'zod';
import { senderProviders } from '../definitions/sender-keys.ts';
import { providerHookShape, senderFindingShape, senderProblemShape, senderStateShape } from '../sender.ts';
import { time, uid } from './fields.ts';

/** The hook of a webhook, as its provider last described it, and its problems. */
export const senderAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  url: z.string().describe('The ingress URL, which the hook should have.'),
  provider: z.enum(senderProviders),
  at: z.string().describe('Where the hook is, for people: github repository acme/shop.'),
  checkedAt: time.nullable().describe('When the provider was last asked; null: never.'),
  hooks: z.array(providerHookShape).describe('Its hooks, as the provider last listed them.'),
  missed: senderStateShape.shape.missed.describe(
    "Events that the provider's log has and the delivery log has not, when they were last compared; null: never.",
  ),
  findings: z.array(senderFindingShape).describe('Problems and possible improvements, the worst first.'),
});
/** What registering would change of the hook of a webhook at its provider. */
export const senderPlanAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  url: z.string().describe('The ingress URL, which the hook will have.'),
  provider: z.enum(senderProviders),
  at: z.string().describe('Where the hook is, for people: github repository acme/shop.'),
  action: z.enum(['create', 'change', 'none']),
  hookId: z.string().nullable().describe('The ID of the hook at the provider; null: it will be created.'),
  takesOver: z
    .string()
    .nullable()
    .describe(
      'The URL that the hook sends to, if that is not of this webhook: registering takes it from there.',
    ),
  changes: z
    .array(
      z.strictObject({
        field: z.enum(['url', 'contentType', 'events', 'active', 'tls', 'secret']),
        before: z.string().nullable().describe('null: there is no hook yet.'),
        after: z.string(),
      }),
    )
    .describe(
      'The changes of the hook, for people. For a secret, the name of its team secret, never the value.',
    ),
  fingerprint: z.string().describe('Identifies what this was judged by, for registerSender.'),
});
export const registeredSenderAnswer = senderPlanAnswer.extend({
  hook: providerHookShape.describe('The hook as the provider has it now.'),
  ping: z
    .strictObject({
      after: z.string().describe('The `after` of listDeliveries for what came since the ping.'),
      problem: senderProblemShape.nullable(),
    })
    .describe('The ping that the provider was asked to send; its problem, if the provider did not.'),
});
export const sendersAnswer = z.strictObject({ senders: z.array(senderAnswer) });
export const missedEventAnswer = z.strictObject({
  eventId: z.string().describe("The provider's ID of the event: the same for all attempts."),
  event: z.string().describe('As the event header of its delivery has it.'),
  action: z.string().nullable(),
  firstAt: time.describe('The first attempt of the provider to deliver it, of those that were read.'),
  at: time.describe('The newest attempt.'),
  attempts: z.int().describe('The number of attempts.'),
  attemptIds: z.array(z.string()).describe("The provider's IDs of the attempts, the newest first."),
  attemptId: z
    .string()
    .describe('The newest attempt, by which the provider is asked to send the event again.'),
  status: z
    .int()
    .nullable()
    .describe(
      'The status that the provider got at the newest attempt; null: no answer. A proxy may have sent it.',
    ),
  matches: z
    .array(z.string())
    .describe('The enabled automations that it could match, by what the provider lists of it: some of them.'),
  canRedeliver: z.boolean().describe('Whether the provider can send it again.'),
  isInFlight: z
    .boolean()
    .describe('Whether the newest attempt is less than a minute old, so that the event may still arrive.'),
  asked: z
    .strictObject({
      at: time,
      isDue: z
        .boolean()
        .describe(
          'Whether it may be asked for again: it has not arrived, and a pause is over that is longer after each request.',
        ),
    })
    .nullable()
    .describe('When the provider was asked to send it again; null: it was not.'),
});
export const missedAnswer = z.strictObject({
  events: z
    .array(missedEventAnswer)
    .describe(
      'Events that the webhook has not accepted. The next part may have earlier attempts of the same events.',
    ),
  read: z.strictObject({
    at: time.describe('When this part of the log was read.'),
    since: time.describe('The beginning of the time that is compared.'),
    isShortened: z
      .boolean()
      .describe(
        'Whether an earlier beginning was asked for, of which the delivery log may know nothing any more.',
      ),
    newestAt: time.nullable().describe("The newest entry of this part, by the provider's clock."),
    entries: z.int().describe("The entries of the provider's log that were read, in all parts."),
    isComplete: z.boolean().describe('Whether everything since the beginning was read.'),
  }),
  next: z.string().nullable().describe('The `cursor` of the next part; null: there is none.'),
  nextInMs: z
    .int()
    .nullable()
    .describe('The time to wait before the next part, because a rate limit of the provider is reached.'),
});
export const redeliverAnswer = z.strictObject({
  events: z
    .array(
      z.strictObject({
        eventId: z.string(),
        result: z
          .enum(['asked', 'accepted', 'too-soon', 'refused'])
          .describe(
            '`accepted`: it has arrived meanwhile; `too-soon`: the pace does not allow it yet, or it was asked for less than a minute ago.',
          ),
        reason: z.string().nullable().describe('Why it was refused.'),
      }),
    )
    .describe('In the order of the request.'),
  nextInMs: z
    .int()
    .nullable()
    .describe('The time until the provider may be asked for another event; null: now.'),
});
