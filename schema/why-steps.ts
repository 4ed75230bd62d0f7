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
