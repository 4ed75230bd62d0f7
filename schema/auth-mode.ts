/** The ways in which a sender proves that it may deliver to a webhook. */
export const authModes = ['token', 'url_token', 'signature'] as const;
export type AuthMode = (typeof authModes)[number];
