/** The permissions of an API token on its factory. `manage` includes `read`. */
export const permissions = ['read', 'manage'] as const;
export type Permission = (typeof permissions)[number];
