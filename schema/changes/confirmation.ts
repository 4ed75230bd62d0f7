import { z } from 'zod';

/**
 * Why a change needs a confirmation: something is destroyed; a webhook would use its team secret in another way than
 * this factory does elsewhere; or in another way than another factory does.
 */
export const confirmationReasons = ['destroy', 'shared-secret', 'other-factory'] as const;
export type ConfirmationReason = (typeof confirmationReasons)[number];

/** Why a change is applied only when somebody confirms it. */
export const confirmationShape = z
  .strictObject({ reason: z.enum(confirmationReasons), message: z.string() })
  .describe('Why the change is applied only when somebody confirms it. Absent if it need not be confirmed.');

export type Confirmation = z.output<typeof confirmationShape>;
