import { z } from 'zod';
import { type Permission, permissions } from './access.ts';

/** The permission of a caller of the management API. */
export const grantShape = z.strictObject({
  factory: z.string().nullable().describe('The factory that it is for; null: all factories.'),
  permission: z.enum(permissions),
});

export type Grant = z.output<typeof grantShape>;

/** Finds the permission that grants give on a factory, or on all of them (null); undefined if there is none. */
export function findPermission(grants: readonly Grant[], factory: string | null): Permission | undefined {
  const found = grants.filter(grant => grant.factory === null || grant.factory === factory);
  return (found.find(({ permission }) => permission === 'manage') ?? found[0])?.permission;
}

/** Lists the factories that grants allow to see; undefined if these are all. */
export function listGranted(grants: readonly Grant[]): readonly string[] | undefined {
  const factories = [...new Set(grants.map(({ factory }) => factory))];
  return factories.includes(null) ? undefined : factories.filter(factory => factory !== null);
}
