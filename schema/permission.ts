/** What an API token permits on its factory. `manage` includes `read`. */
export const permissions = ['read', 'manage'] as const;
export type Permission = (typeof permissions)[number];
