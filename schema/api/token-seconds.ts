/** @limit Longest time until an API token expires, in seconds (10 years): a longer one is probably a mistake. */
export const tokenSecondsMax = 3_650 * 86_400;
