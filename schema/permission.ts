/** What an API token permits on its factory; who may manage may read. */
export const permissions = ['read', 'manage'] as const;
export type Permission = (typeof permissions)[number];
