import type { HmacDescription } from '../description.ts';

/** The commonest shape: HMAC-SHA256 of the body, in hex. */
export const hexOfBody = {
  primitive: 'hmac',
  hash: 'sha256',
  encoding: 'hex',
  content: '{body}',
} as const satisfies Partial<HmacDescription>;

/** The same in base64. */
export const base64OfBody = { ...hexOfBody, encoding: 'base64' } as const satisfies Partial<HmacDescription>;

/** A header `t=…,v1=…` over the timestamp, a dot and the body, as Stripe has it. */
export const stripeLike = {
  ...hexOfBody,
  list: { separator: ',', keyValueSeparator: '=', key: 'v1' },
  content: '{timestamp}.{body}',
} as const satisfies Partial<HmacDescription>;
