import { z } from 'zod';

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
});

export type FieldChange = Readonly<z.output<typeof fieldChangeShape>>;
