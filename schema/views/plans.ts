import { z } from 'zod';
import { confirmationShape, fieldChangeShape, impactShape } from '../changes/plan-shapes.ts';
import { exportedPathPattern } from '../names.ts';
import { webhookAnswer } from './definitions.ts';
import { changeCounts, serial } from './fields.ts';
import { diagnosticShape } from './problem-answer.ts';

export const definitionsAnswer = z.strictObject({
  serial,
  files: z.array(
    z.strictObject({
      path: z.string().regex(exportedPathPattern).describe('The path in a definitions directory.'),
      content: z.string(),
    }),
  ),
});
const changeShape = z.strictObject({
  action: z.enum(['create', 'update', 'delete', 'no-op']),
  kind: z.enum(['webhook', 'automation']),
  name: z.string(),
  uid: z.string().optional(),
  url: z.string().optional(),
  fields: z
    .array(fieldChangeShape)
    .describe('The changes of the definition, part by part; each field of a new one.'),
  confirmation: confirmationShape.optional(),
  restored: z
    .literal(true)
    .optional()
    .describe('Only of a new webhook: it gets the UID and the URL that it had before it was destroyed.'),
  notRestored: z
    .string()
    .optional()
    .describe('Only of a new webhook: why it does not get the URL of the destroyed one of its name.'),
  renamedTo: z.string().optional().describe('The new name of a destroyed webhook that is only renamed.'),
  renamedFrom: z.string().optional().describe('The former name of a new webhook that is only renamed.'),
  atProvider: z
    .array(z.string())
    .optional()
    .describe('What a person must do at the provider of the webhook, which an apply does not.'),
  impact: impactShape
    .optional()
    .describe('The impact on senders and runs. Absent if there is none, or if the log cannot be read.'),
});
export const plannedAutomationAnswer = z.strictObject({ serial, change: changeShape });
export const planAnswer = z.strictObject({
  factory: z.string(),
  serial,
  base: z
    .strictObject({ revision: z.string(), branch: z.string() })
    .nullable()
    .describe('The applied commit, and its branch; null if the definitions come from no repository.'),
  changes: z.array(changeShape),
  summary: changeCounts,
  diagnostics: z
    .array(diagnosticShape)
    .describe('Warnings about the definitions; errors too if the request has `findings`.'),
});
export const appliedAnswer = planAnswer.extend({
  result: z.enum(['applied', 'unchanged']),
  webhooks: z.array(webhookAnswer),
});
