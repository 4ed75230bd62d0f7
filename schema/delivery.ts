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

/**
 * The identity of a delivery whose former one no longer makes others its duplicates. It is unique, as each identity of an
 * accepted delivery is.
 */
export function toReleasedIdentity(identity: string, id: string): string {
  return `earlier ${identity}, ${id}`;
}

/** Reads labels of outcomes in any case, separated by commas. A label that is unknown stays as it was written. */
export function readOutcomes(text: string): readonly string[] {
  return text.split(',').map(part => {
    const label = part.trim();
    return outcomes.find(outcome => outcome.toLowerCase() === label.toLowerCase()) ?? label;
  });
}

/** The kinds of deliveries that are counted. */
export const deliveryKinds = ['accepted', 'duplicate', 'rejected'] as const;

export type DeliveryKind = (typeof deliveryKinds)[number];

/** Finds the kind of a delivery; undefined for a handshake or the payload of a run by hand, which are no deliveries. */
export function findDeliveryKind(outcome: Outcome): DeliveryKind | undefined {
  if (outcome === 'Handshake' || outcome === 'Manual') return undefined;
  if (outcome === 'Accepted') return 'accepted';
  return outcome === 'Duplicate' ? 'duplicate' : 'rejected';
}

/** Outcomes for which the log keeps only metadata: no identity and no payload. */
export type UnidentifiedOutcome = Exclude<Outcome, 'Accepted' | 'Duplicate' | 'Manual'>;

/**
 * Stands for the webhook of a payload that has no sender, so that it counts for no webhook. No webhook has this UID.
 */
export const manualUid = 'manual';

/** How a runner executes runs. */
export const runnerKinds = ['directory', 'command', 'http'] as const;

/** The runner of automations that name none: `runs.runner` of the daemon's settings. */
export const defaultRunner = 'default';

/**
 * The sources of a delivery's identity, in order of preference. `scheme` is the header of the signature scheme,
 * `schemeField` its field of the payload. `body` is a hash of the body. `none`: the delivery is its own, by its ID in the log.
 */
export const identitySources = [
  'deliveryIdHeader',
  'deliveryIdField',
  'scheme',
  'schemeField',
  'X-Service-Delivery-Id',
  'body',
  'none',
] as const;

export type IdentitySource = (typeof identitySources)[number];

/**
 * A run goes queued → running → succeeded | failed. From running, it may return to queued for another attempt. From both,
 * it may go to cancelled.
 */
export const runStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** The states in which a run is over. */
export const endStates = ['succeeded', 'failed', 'cancelled'] as const;

export type RunState = (typeof runStates)[number];

/** Whether a run in this state is over, unless somebody retries it. */
export function hasEnded(state: RunState): boolean {
  return state !== 'queued' && state !== 'running';
}

/**
 * The reasons why a queued run waits although it is due. `order`: for an earlier run of its lane. `limit`: too many
 * runs of its lane are running. `deliveries`: more deliveries of its burst may come. `paused`: its automation is paused.
 */
export const runWaits = ['order', 'limit', 'deliveries', 'paused', 'approval'] as const;

export type RunWait = (typeof runWaits)[number];

/** How a form became a payload: by all of its fields, or by the JSON in one of them. */
export interface FormFormat {
  readonly payloadField?: string | undefined;
}

/** @limit Age in days below which every delivery is kept, as the specification of the service says. */
export const deliveryDaysKept = 7;

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
