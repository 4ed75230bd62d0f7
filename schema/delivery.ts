/** The outcome of a request, set on arrival and never changed. A handshake is a provider's check, not a delivery. */
export const requestOutcomes = [
  'Accepted',
  'Duplicate',
  'Rejected (auth)',
  'Rejected (invalid JSON)',
  'Rejected (too large)',
  'Handshake',
] as const;

/** `Manual` has no sender: it is the payload of a run that somebody started by hand. */
export const outcomes = [...requestOutcomes, 'Manual'] as const;

export type Outcome = (typeof outcomes)[number];
/** Outcomes for which the log keeps only metadata: no identity and no payload. */
export type UnidentifiedOutcome = Exclude<Outcome, 'Accepted' | 'Duplicate' | 'Manual'>;

/** Stands for the webhook of a payload that has no sender, so that it counts for none. No webhook has this UID. */
export const manualUid = 'manual';

/** Where the identity of a delivery comes from, in order of preference. `body` is a hash of the body. */
export const identitySources = ['deliveryIdHeader', 'scheme', 'X-Service-Delivery-Id', 'body'] as const;

export type IdentitySource = (typeof identitySources)[number];

/** A run goes queued → running → succeeded | failed. From running, it may return to queued for another attempt. */
export const runStates = ['queued', 'running', 'succeeded', 'failed'] as const;

export type RunState = (typeof runStates)[number];

/**
 * What keeps a queued run from starting, beside its due time. `order`: an earlier run of its lane. `limit`: too many of
 * its lane are running. `deliveries`: more of its burst may come.
 */
export const runWaits = ['order', 'limit', 'deliveries'] as const;

export type RunWait = (typeof runWaits)[number];
