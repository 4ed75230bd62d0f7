/**
 * The reasons why a request has no row in the delivery log. The log has outcomes only of deliveries; other requests
 * are only counted, so that a flood of them costs little.
 * - `rate limit`: more authenticated deliveries than a minute allows
 * - `failed attempts`: the address had failed to authenticate too often, so this attempt was not verified
 * - `authentication`: it was rejected, but too many such rows were logged already
 * - `incomplete`: the body broke off, came in tiny pieces, or beside too many others
 * - `disabled`: the webhook is disabled
 * - `method`: another method than POST
 * - `not recorded`: the log was full, or the store could not be written or reached
 * - `issuer keys`: the keys that verify its token were not fetched yet
 * - `similar URL`: nearly the URL of the webhook; the detail says how it differs
 * - `unknown URL`: the URL of no webhook, and not nearly
 */
export const unloggedReasons = [
  'rate limit',
  'failed attempts',
  'authentication',
  'incomplete',
  'disabled',
  'method',
  'not recorded',
  'issuer keys',
  'similar URL',
  'unknown URL',
] as const;

export type UnloggedReason = (typeof unloggedReasons)[number];
