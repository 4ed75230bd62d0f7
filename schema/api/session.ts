/** The place where the webhooks and automations of a factory are managed. */
export const managements = ['dashboard', 'files', 'repository'] as const;

export type Management = (typeof managements)[number];

/** The permissions of an API token on its factory. `manage` includes `read`. */
export const permissions = ['read', 'manage'] as const;

export type Permission = (typeof permissions)[number];

/** The request header with the key of a session, which the dashboard gets when it signs in. */
export const sessionKeyHeader = 'X-Hookmill-Session';

/** The request header by which the dashboard says that nobody has used the page for a minute: it reads by itself. */
export const unattendedHeader = 'X-Hookmill-Unattended';

/** The path of the dashboard to which a provider sends browsers back, after people have signed in there. */
export const signInPath = '/sign-in';
