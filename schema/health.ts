/**
 * The health of a webhook, compared with its own past.
 * - `healthy`: deliveries come as usual, or it is not known yet what is usual
 * - `quiet`: none has come for longer than its usual gaps
 * - `failing`: the last ones were all rejected, which is not usual
 * - `never seen`: none has ever been accepted
 */
export const healthStates = ['healthy', 'quiet', 'failing', 'never seen'] as const;

export type HealthState = (typeof healthStates)[number];

/** The steps of a request, in order: from its sender to the runs that it starts. */
export const whyStepNames = [
  'daemon',
  'webhook',
  'sender',
  'url',
  'authentication',
  'limits',
  'json',
  'identity',
  'automations',
  'runs',
] as const;

export type WhyStep = (typeof whyStepNames)[number];
