/** What became of a delivery: one label on arrival, never changed. A handshake is a provider's question, no delivery. */
export const outcomes = [
  'Accepted',
  'Duplicate',
  'Rejected (auth)',
  'Rejected (invalid JSON)',
  'Rejected (too large)',
  'Handshake',
] as const;

export type Outcome = (typeof outcomes)[number];
/** Those of which the log has metadata alone, and which hold no identity. */
export type UnidentifiedOutcome = Exclude<Outcome, 'Accepted' | 'Duplicate'>;

/** Where a delivery's identity came from, in order of preference; `body` is a hash of the body. */
export const identitySources = ['deliveryIdHeader', 'scheme', 'X-Service-Delivery-Id', 'body'] as const;

export type IdentitySource = (typeof identitySources)[number];

/** A run goes queued → running → succeeded | failed; from running it may go back to queued for another attempt. */
export const runStates = ['queued', 'running', 'succeeded', 'failed'] as const;

export type RunState = (typeof runStates)[number];
