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
