import { type AlertType, isAutomationAlert, isWebhookAlert } from '../../schema/alerts.ts';
import { describeUsage } from '../../schema/clients/describe.ts';
import type { Episode, PastEpisode } from '../../store/ports/alerts.ts';
import type { EndToTell, Run } from '../../store/ports/delivery-log.ts';
import { describeTime } from '../health/judge-health.ts';
import { describeRemedy, nameProgram } from './remedies.ts';

/** Renders the body of a message about an episode, as docs/on-call.md describes it. */
export function renderAlert(
  episode: Episode | PastEpisode,
  { nowMs, dashboardUrl }: { readonly nowMs: number; readonly dashboardUrl: string },
): string {
  const { id, type, factory, subject, name, reason, sinceMs, run = '' } = episode;
  const endedMs = 'endedMs' in episode ? episode.endedMs : null;
  const data = {
    id,
    status: endedMs === null ? 'open' : 'resolved',
    summary: endedMs === null ? reason : `resolved after ${describeTime(endedMs - sinceMs)}: ${reason}`,
    factory: factory === '' ? null : factory,
    webhook: isWebhookAlert(type) ? { name, uid: subject } : null,
    automation: isAutomationAlert(type) ? name : null,
    reason,
    since: new Date(sinceMs).toISOString(),
    until: endedMs === null ? null : new Date(endedMs).toISOString(),
    remedy: endedMs === null ? describeRemedy(episode) : null,
    link: dashboardUrl + links[type](encodeURIComponent(factory), encodeURIComponent(subject), run),
  };
  return JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data });
}

/** The page of the dashboard that shows more. */
const links: Readonly<Record<AlertType, (factory: string, subject: string, run: string) => string>> = {
  'webhook.quiet': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.failing': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.previous-secret': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.repeats': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.missed': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'runs.failing': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.stopped': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.held': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.unapproved': (factory, _, run) => `/#/${factory}/runs/${run}`,
  'automation.paused': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'reconcile.failing': factory => `/#/${factory}/status`,
  'quota.full': factory => `/#/${factory}/status`,
  'log.unwritable': () => '/#/',
};

/** Renders the body of a message about the end of a run, as docs/on-call.md describes it. */
export function renderRunEnd(
  run: Run,
  state: EndToTell['state'],
  { nowMs, dashboardUrl }: { readonly nowMs: number; readonly dashboardUrl: string },
): string {
  const { id, factory, automation, attempts, error, report } = run;
  const hookmill = nameProgram(factory);
  const said = state === 'failed' ? (error ?? 'without a reason') : report?.message;
  const reason = `${id} of ${automation} ${state}${said === undefined ? '' : `: ${said}`}`;
  const used = report && describeUsage(report);
  const { atMs: _, count: __, ...reported } = report ?? {};
  const data = {
    id,
    status: state,
    summary: used === undefined ? reason : `${reason} (${used})`,
    factory,
    webhook: null,
    automation,
    reason,
    attempts,
    ...(report && { report: reported }),
    remedy:
      state === 'failed'
        ? `Run \`${hookmill} runs show ${id}\`, then \`${hookmill} runs retry ${id}\`.`
        : null,
    link: `${dashboardUrl}/#/${encodeURIComponent(factory)}/runs/${id}`,
  };
  return JSON.stringify({ type: `run.${state}`, timestamp: new Date(nowMs).toISOString(), data });
}
