/** The permissions of an API token on its factory. `manage` includes `read`. */
export const permissions = ['read', 'manage'] as const;

export type Permission = (typeof permissions)[number];

/** The permission of a caller of the management API on a factory; null: on all factories. */
export interface Grant {
  readonly factory: string | null;
  readonly permission: Permission;
}

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

/** @limit Longest time until an API token expires, in seconds (10 years): a longer one is probably a mistake. */
export const tokenSecondsMax = 3_650 * 86_400;
