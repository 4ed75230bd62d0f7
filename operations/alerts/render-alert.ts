import { type AlertType, isAutomationAlert, isWebhookAlert } from '../../schema/alerts.ts';
import { describeUsage } from '../../schema/clients/describe.ts';
import type { Episode, PastEpisode } from '../../store/ports/alerts.ts';
import type { EndToTell, Run } from '../../store/ports/delivery-log.ts';
import { describeTime } from '../health/judge-health.ts';

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

/** Says what to do about an open episode. */
export function describeRemedy({ type, factory, name, run = '' }: Episode): string {
  return remedies[type]({ hookmill: nameProgram(factory), name, run });
}

/** Names the program as the commands of a remedy begin, with the factory unless it is the default one, or none. */
export function nameProgram(factory: string): string {
  return factory === '' || factory === 'default' ? 'hookmill' : `hookmill --factory ${factory}`;
}

/** `hookmill` begins each command. */
type Remedy = (given: { readonly hookmill: string; readonly name: string; readonly run: string }) => string;

const remedies: Readonly<Record<AlertType, Remedy>> = {
  'webhook.quiet': ({ hookmill, name }) =>
    `Look whether the sender still sends, and run \`${hookmill} why ${name}\`.`,
  'webhook.failing': ({ hookmill, name }) =>
    `Run \`${hookmill} why ${name}\`: it names the cause and what to do.`,
  'webhook.previous-secret': ({ hookmill, name }) =>
    `Set the sender to use the current value of its team secret, then check with \`${hookmill} why ${name}\`.`,
  'webhook.missed': ({ hookmill, name }) => `Run \`${hookmill} senders missed ${name} --redeliver\`.`,
  'runs.failing': ({ hookmill, name }) =>
    `Run \`${hookmill} runs list --automation ${name} --state failed\`, correct the cause, then \`${hookmill} runs retry --automation ${name} --state failed\`.`,
  'runs.stopped': ({ hookmill, name }) =>
    `Check whether the work of ${name} fires its own webhook. \`${hookmill} runs list --automation ${name} --state failed\` shows what was stopped, \`${hookmill} runs retry --automation ${name} --state failed\` starts it.`,
  'runs.held': ({ hookmill, run }) =>
    `Correct the cause, then run \`${hookmill} runs retry ${run}\`, or give it up with \`${hookmill} runs dismiss ${run}\`.`,
  'runs.unapproved': ({ hookmill, run }) =>
    `Look at what it left: \`${hookmill} runs artifacts ${run}\`. Then run \`${hookmill} runs approve ${run}\`, or decline with \`${hookmill} runs cancel ${run}\`.`,
  'automation.paused': ({ hookmill, name }) =>
    `Run \`${hookmill} automations resume ${name}\`, or say until when: \`${hookmill} automations pause ${name} --for 7d\`.`,
  'reconcile.failing': ({ hookmill }) =>
    `Run \`${hookmill} status\`: it says since when, at which commit and why.`,
  'log.unwritable': () => 'Senders are answered 503 until the store can be written. /readyz says why.',
};

/** The page of the dashboard that shows more. */
const links: Readonly<Record<AlertType, (factory: string, subject: string, run: string) => string>> = {
  'webhook.quiet': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.failing': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.previous-secret': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'webhook.missed': (factory, uid) => `/#/${factory}/webhooks/${uid}`,
  'runs.failing': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.stopped': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.held': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'runs.unapproved': (factory, _, run) => `/#/${factory}/runs/${run}`,
  'automation.paused': (factory, automation) => `/#/${factory}/automations/${automation}`,
  'reconcile.failing': factory => `/#/${factory}/status`,
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
