/** What a webhook, an automation or a factory may be called; definition files are named so. */
export const definitionNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const definitionNameRule = 'lower case letters, digits and -, at most 63, the first not -';
