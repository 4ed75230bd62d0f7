import { type AlertType, isWebhookAlert } from '../../schema/alerts.ts';
import type { Episode } from '../../store/ports/alerts.ts';

/** Renders the body of a message about an episode, as docs/on-call.md describes it. */
export function renderAlert(
  { id, type, factory, subject, name, reason, sinceMs }: Episode,
  status: 'open' | 'resolved',
  { nowMs, dashboardUrl }: { readonly nowMs: number; readonly dashboardUrl: string },
): string {
  const timestamp = new Date(nowMs).toISOString();
  const data = {
    id,
    status,
    factory: factory === '' ? null : factory,
    webhook: isWebhookAlert(type) ? { name, uid: subject } : null,
    automation: type.startsWith('runs.') ? name : null,
    reason,
    since: new Date(sinceMs).toISOString(),
    remedy: remedies[type](name),
    link: dashboardUrl + links[type](encodeURIComponent(factory), encodeURIComponent(subject)),
  };
  return JSON.stringify({ type, timestamp, data });
}

const remedies: Readonly<Record<AlertType, (name: string) => string>> = {
  'webhook.quiet': name => `Look whether the sender still sends, and run \`hookmill why ${name}\`.`,
  'webhook.failing': name => `Run \`hookmill why ${name}\`, and compare the secret on both sides.`,
  'runs.failing': name =>
    `Run \`hookmill runs list --automation ${name} --state failed\`, correct the cause, then \`hookmill runs retry\`.`,
  'runs.stopped': name =>
    `Check whether the work of ${name} fires its own webhook. \`hookmill runs list --automation ${name} --state failed\` shows what was stopped, \`hookmill runs retry\` starts it.`,
  'runs.held': () =>
    'Correct the cause, then run `hookmill runs retry` with the ID of the run, or give it up with `hookmill runs dismiss`.',
  'reconcile.failing': () => 'Run `hookmill status`: it says since when, at which commit and why.',
  'log.unwritable': () => 'Senders are answered 503 until the store can be written. /readyz says why.',
};

/** The page of the dashboard that shows more. */
const links: Readonly<Record<AlertType, (factory: string, subject: string) => string>> = {
  'webhook.quiet': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.failing': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'runs.failing': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.stopped': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.held': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'reconcile.failing': factory => `/#/${factory}/status`,
  'log.unwritable': () => '/#/',
};
