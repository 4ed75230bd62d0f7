/** The limits of deliveries, as the daemon's configuration file has them. */
export interface RateLimits {
  readonly deliveriesPerMinute: number;
  /** The limits of single webhooks, by `NAME`, or by `FACTORY/NAME`. */
  readonly webhooks?: Readonly<Record<string, { readonly deliveriesPerMinute: number }>> | undefined;
}

/** The authenticated deliveries that a webhook may get in a minute. */
export function findRateLimit(
  { deliveriesPerMinute, webhooks = {} }: RateLimits,
  { factory, name }: { readonly factory: string; readonly name: string },
): number {
  const key = [`${factory}/${name}`, name].find(key => Object.hasOwn(webhooks, key));
  return (key === undefined ? undefined : webhooks[key]?.deliveriesPerMinute) ?? deliveriesPerMinute;
}
