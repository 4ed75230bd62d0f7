/**
 * Finds the reason of a failed request: the message of the innermost cause, because only that one says what the network
 * did. An error about several addresses of a host has no message, so its code is the reason.
 */
export function findReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return findReason(error.cause);
  return error.message || String('code' in error ? error.code : error.name);
}
