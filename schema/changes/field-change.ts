import { z } from 'zod';

/**
 * The reasons why a change needs a confirmation: something is destroyed; a webhook would use its team secret in another
 * way than this factory does elsewhere; or in another way than another factory does.
 */
export const confirmationReasons = ['destroy', 'shared-secret', 'other-factory'] as const;

export type ConfirmationReason = (typeof confirmationReasons)[number];

/** The reason why a change needs a confirmation, and a message about it. */
export const confirmationShape = z
  .strictObject({ reason: z.enum(confirmationReasons), message: z.string() })
  .describe('The reason why the change needs a confirmation. Absent if it needs none.');

export type Confirmation = z.output<typeof confirmationShape>;

/** A part of a definition that an apply adds, removes or changes. */
export const fieldChangeShape = z.strictObject({
  field: z.string().describe('The key of the definition. `secret` stands for the value of its team secret.'),
  path: z
    .string()
    .describe(
      'Where in the definition the change is, as in `triggers[deploys].filter.payload.action`. A trigger is named by its webhook.',
    ),
  before: z.unknown().optional().describe('Absent if the part is added.'),
  after: z.unknown().optional().describe('Absent if the part is removed.'),
  previousUntil: z
    .string()
    .optional()
    .describe('Only of `secret`: until when the current value stays valid beside the new one.'),
});

export type FieldChange = Readonly<z.output<typeof fieldChangeShape>>;
