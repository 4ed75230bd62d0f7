import { z } from 'zod';
import { alertTypes, attentionKinds, receiverFormats } from '../alerts.ts';
import { time } from './fields.ts';
import { outside } from './outside.ts';

/** By whom and since when, or until when. */
const alertMark = z.strictObject({ at: time, by: z.string() }).nullable();
export const alertAnswer = z.strictObject({
  id: z.string(),
  type: z.enum(alertTypes),
  status: z.enum(['open', 'resolved']),
  webhook: z.strictObject({ name: z.string(), uid: z.string() }).nullable(),
  automation: z.string().nullable(),
  run: z.string().nullable().describe('The run that a person must act on, if there is one.'),
  reason: outside(z.string()),
  since: time,
  until: time.nullable().describe('When it was resolved.'),
  remedy: z.string().nullable().describe('What to do; null once it is resolved.'),
  acknowledged: alertMark.describe('Who acknowledged it, and when.'),
  muted: alertMark.describe('Who muted it, and until when.'),
});
/** Something that needs attention: an open alert, or what no alert tells yet. */
export const attentionAnswer = alertAnswer.omit({ status: true, until: true }).extend({
  id: z.string().nullable().describe('The ID of the alert; null: none tells it.'),
  type: z.enum(attentionKinds),
  since: time.nullable(),
});
export const alertsAnswer = z.strictObject({
  alerts: z.array(alertAnswer),
  receivers: z
    .array(
      z.strictObject({
        format: z.enum(receiverFormats),
        host: z.string().nullable().describe('null: its URL is a team secret.'),
        secretName: z
          .string()
          .nullable()
          .describe('The team secret that it needs. Only with the manage permission.'),
        last: z
          .strictObject({
            at: time,
            status: z.int().nullable().describe('The status that it answered; null: none.'),
            error: outside(
              z
                .string()
                .nullable()
                .describe('Why the message did not arrive. The details only with the manage permission.'),
            ),
          })
          .nullable()
          .describe('The last attempt to send it a message; null: there was none.'),
      }),
    )
    .describe(
      'The receivers of the last daemon to start that has any. They get the alerts of all factories.',
    ),
});
/** What is wrong now, in several factories. */
export const openAlertsAnswer = z.strictObject({
  alerts: z.array(alertAnswer.extend({ factory: z.string() })),
  logTrouble: z
    .string()
    .nullable()
    .describe('Why this daemon cannot record deliveries, so that it refuses them; null: it can.'),
});
