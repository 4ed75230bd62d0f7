/**
 * The subjects of alerts:
 * - `webhook.quiet`, `webhook.failing`: the health of a webhook
 * - `webhook.previous-secret`: the overlap of a secret has ended, and the sender still used the previous value
 * - `webhook.repeats`: the sender of a webhook repeats one body without an ID, so its deliveries are duplicates
 * - `webhook.missed`: the provider of a webhook tried to deliver events that did not arrive
 * - `runs.failing`: the last runs of an automation all failed
 * - `runs.stopped`: `runsPerHour` has stopped runs of an automation
 * - `runs.held`: failed runs of an automation keep those behind them waiting
 * - `runs.unapproved`: runs of an automation wait for approval
 * - `automation.paused`: somebody paused an automation, a day ago, and nothing will resume it
 * - `reconcile.failing`: a factory has not followed its branch for some minutes
 * - `quota.full`: a factory has taken all that it may of something that all factories share
 * - `log.unwritable`: deliveries cannot be recorded, for example because the disk is full
 */
export const alertTypes = [
  'webhook.quiet',
  'webhook.failing',
  'webhook.previous-secret',
  'webhook.repeats',
  'webhook.missed',
  'runs.failing',
  'runs.stopped',
  'runs.held',
  'runs.unapproved',
  'automation.paused',
  'reconcile.failing',
  'quota.full',
  'log.unwritable',
] as const;

export type AlertType = (typeof alertTypes)[number];

/**
 * What needs attention, the worst first: the subjects of alerts; `state.unserved`: the daemon does not serve a newer applied
 * state; and `drift`: the applied state differs from the definition files.
 */
export const attentionKinds = [
  'log.unwritable',
  'state.unserved',
  'webhook.failing',
  'runs.held',
  'reconcile.failing',
  'runs.failing',
  'runs.stopped',
  'runs.unapproved',
  'webhook.missed',
  'webhook.repeats',
  'webhook.previous-secret',
  'webhook.quiet',
  'quota.full',
  'automation.paused',
  'drift',
] as const satisfies readonly (AlertType | 'state.unserved' | 'drift')[];

export type AttentionKind = (typeof attentionKinds)[number];

/** Whether alerts of a type are about an automation. */
export function isAutomationAlert(type: AlertType): boolean {
  return type.startsWith('runs.') || type === 'automation.paused';
}

/** Whether alerts of a type are about a webhook. */
export function isWebhookAlert(type: AlertType): boolean {
  return type.startsWith('webhook.');
}

/** The formats in which receivers get alerts. */
export const receiverFormats = ['standard-webhooks', 'slack', 'pagerduty'] as const;
