import { z } from 'zod';
import { operatorNames } from '../filters/clause.ts';
import { observedTypes } from '../payloads/observation.ts';
import { time, titleFields, uid, webhookAtArrival } from './fields.ts';
import { outside } from './outside.ts';
import { diagnosticShape } from './problem-answer.ts';

const clauseShape = z.strictObject({
  path: z.string(),
  operator: z.enum([...operatorNames, 'object', 'any_element']),
  allowed: z.string(),
  found: outside(z.string()),
  holds: z.boolean(),
  note: outside(
    z.string().optional().describe('How near the value came to a pattern or range that it fails.'),
  ),
});
export const verdictAnswer = z.strictObject({
  automation: z.string(),
  enabled: z.boolean(),
  wouldTrigger: z.boolean(),
  triggers: z.array(
    z.strictObject({
      wouldTrigger: z.boolean(),
      webhookHolds: z.boolean(),
      payloadHolds: z.boolean(),
      clauses: z.array(clauseShape),
      headers: z
        .strictObject({ holds: z.boolean(), clauses: z.array(clauseShape) })
        .optional()
        .describe('The header check, if the trigger has a header filter.'),
    }),
  ),
});
const filterWarnings = z.array(
  z.strictObject({
    trigger: z.int().describe('The index of the trigger.'),
    code: diagnosticShape.shape.code,
    path: z.string().describe('Where in the payload it looks, such as `$.issue.labels`.'),
    message: outside(z.string()),
    hint: outside(z.string()),
  }),
);
/** The result of a filter test, with what is suspicious about the filters. */
export const filterTestAnswer = verdictAnswer.extend({ warnings: filterWarnings });
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const { path: clausePath, operator: clauseOperator, allowed: clauseAllowed } = clauseShape.shape;
const testedClause = {
  path: clausePath,
  operator: clauseOperator.exclude(['any_element']),
  allowed: clauseAllowed,
};
const suggestedClause = z.strictObject({
  allowed: outside(z.string().describe('The operand with the change.')),
  values: outside(z.array(scalar).describe('The whole list to write instead, for the same operator.')),
});
/** An automation or a draft on stored deliveries. No value in it looks like a credential. */
export const testedOnStoredAnswer = z.strictObject({
  deliveries: z
    .array(
      z.strictObject({
        id: z.string(),
        at: time,
        webhook: webhookAtArrival,
        ...titleFields,
        verdict: z
          .enum(['match', 'near', 'no'])
          .describe(
            '`match`: a trigger fires, also of a disabled automation; `near`: one clause of a trigger fails, by a value that was probably meant.',
          ),
        near: z
          .strictObject({
            ...testedClause,
            found: outside(
              z.string().nullable().describe('null: it is not shown, as it may be a credential.'),
            ),
            note: outside(z.string().optional().describe('How the value differs from what is allowed.')),
            suggestion: suggestedClause.optional().describe('The change by which the delivery would match.'),
          })
          .optional()
          .describe('The clause that fails; only with the verdict `near`.'),
      }),
    )
    .describe('Newest first. Fewer than asked for, if there are no more, or if they are large.'),
  matches: z.int().describe('How many of the deliveries match.'),
  clauses: z
    .array(
      z.strictObject({
        trigger: z.int().describe('The index of the trigger.'),
        kind: z.enum(['payload', 'headers']),
        ...testedClause,
        holds: z.int().describe('For how many of the judged deliveries it holds.'),
        judged: z.int().describe('The number of deliveries to the webhooks of the trigger.'),
        found: outside(
          z
            .array(z.string())
            .describe('Values for which it fails, the most frequent first; `missing` without one.'),
        ),
        suggestion: suggestedClause
          .extend({
            matches: z
              .int()
              .describe(
                'How many of the deliveries would match; of objects in a list, the nearest is tried.',
              ),
          })
          .optional()
          .describe('The change that repairs most of the near misses.'),
      }),
    )
    .describe('The clauses of all triggers, in their order.'),
  since: time.nullable().describe('When the oldest of the deliveries arrived; null: there are none.'),
  warnings: filterWarnings.describe('What is suspicious about the filters, also by these deliveries.'),
  startedNothing: z
    .int()
    .optional()
    .describe(
      'For how many of the deliveries no enabled automation starts a run now. Only if `webhook` is given.',
    ),
});
/** The shape of a webhook's payloads. */
export const payloadsAnswer = z.strictObject({
  webhook: z.string(),
  uid,
  deliveries: z.int().describe('Number of accepted deliveries that were observed, the newest ones.'),
  paths: z
    .array(
      z.strictObject({
        path: z.string().describe('A JSONPath (RFC 9535) such as `$.labels[*].name`.'),
        keys: z
          .array(z.string().nullable())
          .describe('The keys of the path; null: the elements of an array.'),
        deliveries: z.int().describe('In how many deliveries the path has a value.'),
        types: z.array(z.strictObject({ type: z.enum(observedTypes), values: z.int() })),
        examples: outside(z.array(scalar).describe('Some values. None of them looks like a credential.')),
        isEnumeration: z.boolean().describe('Whether the examples are all values that were observed.'),
      }),
    )
    .describe('Each path before those below it.'),
  hasMore: z.boolean().describe('Whether further paths were observed.'),
});
