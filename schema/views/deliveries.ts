import { z } from 'zod';
import { identitySources, manualUid, outcomes, runStates } from '../delivery.ts';
import {
  commit,
  listEnd,
  schemeTitleFields,
  time,
  titleFields,
  uid,
  unloggedRequests,
  webhookAtArrival,
} from './fields.ts';
import { outside } from './outside.ts';
import { runAnswer } from './runs.ts';
import { verdictAnswer } from './verdicts.ts';

const formShape = z.strictObject({
  payloadField: z
    .string()
    .optional()
    .describe('The field whose JSON is the payload. Without it, all fields are.'),
});
export const deliveryAnswer = z.strictObject({
  id: z.string(),
  webhook: webhookAtArrival,
  uid: uid.or(z.literal(manualUid)).describe('The UID of the webhook; `manual` if no sender sent it.'),
  at: time,
  size: z.int().describe('Size of the body in bytes.'),
  outcome: z.enum(outcomes),
  identity: outside(z.string().nullable()),
  identitySource: z.enum(identitySources).optional(),
  authenticatedBy: outside(z.string().optional()),
  verifiedWith: z
    .literal('previous')
    .optional()
    .describe(
      'Only if the previous value of the secret verified it, during an overlap, and not the current one.',
    ),
  reason: outside(
    z
      .string()
      .optional()
      .describe('Why it was rejected. If its credential was, only with the manage permission.'),
  ),
  remedy: z.string().optional().describe('What to do about the reason, if it is known.'),
  duplicateOf: z.string().optional(),
  headers: outside(
    z
      .record(z.string(), z.string())
      .optional()
      .describe('The event headers, with names in lower case. Only of accepted deliveries.'),
  ),
  eventType: outside(z.string().optional().describe('The type of the event, if an event header names it.')),
  form: formShape
    .optional()
    .describe('How its body became its payload. Only if it was accepted, and is a form.'),
  commit,
  summary: z
    .strictObject({
      ...schemeTitleFields,
      runs: z.partialRecord(z.enum(runStates), z.int()).describe('The number of its runs in each state.'),
      preview: outside(
        z
          .string()
          .nullable()
          .describe('The beginning of the body, on one line; null unless the payload is kept.'),
      ),
    })
    .optional()
    .describe('Only in lists that ask for it.'),
});
export const deliveriesAnswer = z.strictObject({ deliveries: z.array(deliveryAnswer), ...listEnd });
const evaluationShape = z.strictObject({
  serial: z.int().describe('Serial of the applied state that judged the delivery.'),
  automations: z.array(verdictAnswer).describe('The automations with a trigger for the webhook.'),
  others: z.int().describe('Number of automations that have triggers for other webhooks only.'),
});
export const deliveryDetailAnswer = deliveryAnswer.extend({
  ...titleFields,
  payload: outside(
    z
      .string()
      .nullable()
      .describe(
        'The payload as JSON: the body, or what was read of a form; null unless the delivery was accepted.',
      ),
  ),
  evaluation: evaluationShape.nullable(),
  runs: z.array(runAnswer),
});
/** An event of a live view. */
export const liveDeliveriesAnswer = z.strictObject({
  deliveries: z
    .array(deliveryAnswer)
    .describe('The newest deliveries, in the order in which they were recorded.'),
  skipped: z.int().describe('Number of further deliveries, which this event leaves out.'),
});
export const replayedAnswer = z.strictObject({
  runs: z.array(z.strictObject({ id: z.string(), automation: z.string() })),
});
/** The requests that were refused and have no row in the log, the last ones first. */
export const unloggedAnswer = z.strictObject({ since: time, requests: unloggedRequests });
