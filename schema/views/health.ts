import { z } from 'zod';
import { outcomes } from '../delivery.ts';
import { healthStates, whyStepNames } from '../health.ts';
import { attentionAnswer } from './alerts.ts';
import { time, titleFields, uid, unloggedRequests } from './fields.ts';
import { outside } from './outside.ts';
import { pauseAnswer } from './runs.ts';

/** The deliveries of each webhook in the last 24 hours, hour by hour. The last hour is the current one. */
const webhookHealth = z.strictObject({
  state: z.enum(healthStates),
  reason: z.string(),
  since: time.nullable().describe('Since when it is quiet or failing; null in other states.'),
});
/** The health of the webhooks of several factories, in numbers. */
export const healthOverviewAnswer = z.strictObject({
  factories: z
    .array(
      z.strictObject({
        factory: z.string(),
        counts: z.array(z.strictObject({ state: z.enum(healthStates), webhooks: z.int() })),
      }),
    )
    .describe('The webhooks that ever got a delivery, as they were last looked at.'),
  unhealthy: z
    .array(z.strictObject({ factory: z.string(), name: z.string(), uid, health: webhookHealth }))
    .describe('The webhooks that are quiet or failing, failing ones first.'),
  hasMore: z.boolean().describe('Whether more are quiet or failing than are listed.'),
});
/** Which value of its secret the sender of a webhook uses. */
const overlapShape = z.strictObject({
  until: time.describe('When the previous value ends.'),
  sender: z
    .enum(['previous', 'current'])
    .nullable()
    .describe('The value that verified the newest delivery; null if none came since the overlap began.'),
  message: z.string(),
  remedy: z.string().nullable(),
});
/** A field that seems to be the ID of an event, though several accepted deliveries share it. */
const repeatedIdShape = z.strictObject({
  field: z.string().describe('Its path, as `deliveryIdField` takes it.'),
  deliveries: z.int().describe('Number of deliveries that have the same value as an earlier one.'),
  judged: z
    .int()
    .describe('Number of the last accepted deliveries that no named header or field identified.'),
  example: z.array(z.string()).describe('Two of the deliveries, the earlier one first.'),
});
export type RepeatedId = z.output<typeof repeatedIdShape>;
export const healthAnswer = z.strictObject({
  since: time.describe('When the first hour begins. The last hour is the current one.'),
  webhooks: z.array(
    z.strictObject({
      name: z.string(),
      uid,
      health: webhookHealth.nullable().describe('null: the webhook is disabled.'),
      disabledSince: time.optional().describe('Since when it is disabled. Absent if it was created so.'),
      overlap: overlapShape
        .optional()
        .describe(
          'Only while the previous value of its secret is valid too, or has ended and the sender still uses it.',
        ),
      repeatedId: repeatedIdShape
        .optional()
        .describe('Only if one webhook is asked for, and its sender seems to repeat events.'),
      lastDelivery: z
        .strictObject({ id: z.string(), at: time, outcome: z.enum(outcomes), ...titleFields })
        .nullable(),
      lastGoodAt: time.nullable().describe('When the last delivery came that was accepted, or a duplicate.'),
      lastRejectedAt: time.nullable(),
      tallies: z
        .array(z.strictObject({ outcome: z.enum(outcomes), hours: z.array(z.int()).length(7 * 24) }))
        .describe('The deliveries by hours, with each outcome that there was. They may be some seconds old.'),
    }),
  ),
  pauses: z.array(pauseAnswer).describe('The paused automations; of one webhook, those that listen to it.'),
});
/** Why a webhook's last request, or a delivery, started runs or did not. */
export const whyAnswer = z.strictObject({
  subject: z.string(),
  webhook: z
    .strictObject({ name: z.string(), uid, url: z.string() })
    .nullable()
    .describe('null: the webhook of the delivery is no longer applied.'),
  cause: z
    .enum(whyStepNames)
    .nullable()
    .describe('The step at which the newest request went wrong; null: none.'),
  attention: z
    .array(attentionAnswer)
    .describe(
      'What needs attention at the webhook and its automations, or at that of the run, the worst first.',
    ),
  steps: z
    .array(
      z.strictObject({
        step: z.enum(whyStepNames),
        state: z
          .enum(['ok', 'wrong', 'earlier', 'unknown'])
          .describe(
            '`unknown`: no request came so far. `earlier`: something was wrong, and a delivery was accepted since.',
          ),
        at: time.nullable().describe('When it went wrong; null if nothing did, or it is so whatever comes.'),
        message: outside(z.string()),
        remedy: z
          .string()
          .nullable()
          .describe('How to repair the step; null unless something is or was wrong.'),
        lines: outside(z.array(z.string()).describe("Clauses that fail, or the end of a run's output.")),
      }),
    )
    .describe('In the order of a request: from its sender to the runs that it starts.'),
  last: z
    .array(z.strictObject({ outcome: z.enum(outcomes), id: z.string(), at: time }))
    .describe('The last delivery with each outcome.'),
  unlogged: unloggedRequests.describe('The requests of the last hour that have no row.'),
});
