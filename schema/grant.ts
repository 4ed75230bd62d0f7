import { z } from 'zod';
import { permissions } from './permission.ts';

/** What a caller of the management API may do. */
export const grantShape = z.strictObject({
  factory: z.string().nullable().describe('The factory that it is for; null: all factories.'),
  permission: z.enum(permissions),
});

export type Grant = z.output<typeof grantShape>;
