import type { AlertType } from '../../schema/alerts.ts';
import type { Management } from '../../schema/applied-state.ts';
import type { Episode } from '../../store/ports/alerts.ts';

/** A problem, and what to do about it. */
export interface Remediable {
  readonly message: string;
  readonly remedy: string;
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
  'webhook.repeats': ({ name }) => `${remedyRepeatedBody(name)}.`,
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
  'quota.full': () =>
    'Correct what causes so many, or look for what does not arrive. Other factories are not affected.',
  'log.unwritable': () => 'Senders are answered 503 until the store can be written. /readyz says why.',
};

/** Says how deliveries with the same body become different ones, without a full stop. */
export function remedyRepeatedBody(webhook: string): string {
  return `If each is a new event, add \`identity: none\` to the webhook ${webhook}, or \`identity: { sameBody: 10m }\` if its sender retries`;
}

/** Says how to enable a webhook or an automation that is disabled, in a factory that is managed there. */
export function remedyDisabled(
  management: Management | null,
  of: { readonly kind: 'webhook' | 'automation'; readonly isByHand: boolean },
): string {
  const here = 'Enable it in the dashboard';
  if (of.isByHand) return `${here}, or wait: the next ${nameUndoing(management)} undoes that.`;
  if (management === null || management === 'dashboard') return `${here}.`;
  const apply =
    management === 'files' ? 'and run `hookmill apply`' : 'on the branch that the factory follows';
  const inFile = `et \`enabled: true\` in its file ${apply}.`;
  return of.kind === 'webhook' ? `${here}, or s${inFile}` : `S${inFile}`;
}

/** Names what undoes a change by hand, because it applies the definition files again. */
export function nameUndoing(management: Management | null): string {
  return management === 'repository' ? 'commit on the branch' : 'apply';
}
