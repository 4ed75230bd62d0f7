/** The place where the webhooks and automations of a factory are managed. */
export const managements = ['dashboard', 'files', 'repository'] as const;

export type Management = (typeof managements)[number];
