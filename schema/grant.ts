import { z } from 'zod';
import { permissions } from './permission.ts';

/** The permission of a caller of the management API. */
export const grantShape = z.strictObject({
  factory: z.string().nullable().describe('The factory that it is for; null: all factories.'),
  permission: z.enum(permissions),
});

export type Grant = z.output<typeof grantShape>;
