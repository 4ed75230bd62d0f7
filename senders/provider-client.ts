import type { ProviderHook } from '../schema/sender.ts';

/** A hook as it is created or corrected. Providers drop or reset a secret that is left out, so it is always sent. */
export interface WantedHook {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  /** GitLab sends only JSON, whatever this is. */
  readonly contentType: ProviderHook['contentType'];
}

/** One attempt of the provider to deliver an event, from its own log. */
export interface ProviderAttempt {
  /** Identifies the attempt at the provider, for `redeliver`. */
  readonly id: string;
  /** Identifies the event: the same for each of its attempts, and the identity of its deliveries in our log. */
  readonly eventId: string;
  /** The event, as the event header of its delivery has it. */
  readonly event: string;
  /** The `action` of the payload (of its `object_attributes` at GitLab), if the provider lists it. */
  readonly action: string | null;
  readonly atMs: number;
  /** The status that the provider got; null: no answer. */
  readonly status: number | null;
  /** The parsed payload, if the provider lists it. GitLab hides the email addresses in it. */
  readonly payload?: unknown;
  /** Whether the provider still has the payload. Otherwise, it would send something else in its place. */
  readonly canRedeliver: boolean;
}

/** The newest of some times; null without one. */
export function findNewest(timesMs: readonly number[]): number | null {
  return timesMs.length === 0 ? null : Math.max(...timesMs);
}

export interface AttemptsPage {
  /** Newest first. An attempt may be in two pages, because new ones move the others. */
  readonly attempts: readonly ProviderAttempt[];
  /** Entries of the page, also those that are no attempts of hookmill's. */
  readonly entries: number;
  /** When the newest of these entries was made, in ms; null if no entry says so. */
  readonly newestMs: number | null;
  /** Continues with older attempts; null: there are none. */
  readonly next: string | null;
}

/**
 * The API of a provider for the hooks of one repository, project, group, organization or app. Each request is bounded, and
 * none is repeated. Fails with ProviderError.
 */
export interface ProviderClient {
  /** All hooks; for an app, its only one. */
  listHooks(): Promise<readonly ProviderHook[]>;
  createHook(wanted: WantedHook): Promise<ProviderHook>;
  /**
   * Changes URL, events, secret and content type, switches TLS verification on, and activates it. What hookmill does not manage
   * stays as it is. GitLab activates a hook that it has disabled only after a ping that the ingress accepts.
   */
  changeHook(id: string, wanted: WantedHook): Promise<ProviderHook>;
  /** Makes the provider send a ping (GitHub) or a sample event (GitLab), which a trigger may match, to the hook's URL. */
  ping(hook: ProviderHook): Promise<void>;
  /** Lists a page of the provider's log of a hook. */
  listAttempts(hookId: string, cursor: string | null): Promise<AttemptsPage>;
  /** Asks the provider to send an event again. It comes through the ingress, like any delivery. */
  redeliver(hookId: string, attemptId: string): Promise<void>;
}

/** Tells one failure of a provider from another. */
export type ProviderErrorCode = 'unreachable' | 'forbidden' | 'not-found' | 'rate-limited' | 'refused';

/** A failed request to a provider. The message names the provider and what it said, and has no credential. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  /** The wait until a rate limit ends, in ms; undefined for every other failure. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ProviderErrorCode,
    message: string,
    { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.name = 'ProviderError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
