import type { AttentionKind } from '../../schema/alerts.ts';
import { describeOperation } from '../../schema/clients/describe.ts';

/** How each is told in a sentence; `name` is the webhook or the automation. */
const sentences: Readonly<Record<AttentionKind, (name: string) => string>> = {
  'log.unwritable': () => 'Deliveries cannot be recorded',
  'state.unserved': () => 'The newest applied state is not served',
  'webhook.failing': name => `${name} rejects deliveries`,
  'runs.held': name => `${name} holds runs`,
  'reconcile.failing': () => 'The branch cannot be applied',
  'runs.failing': name => `Runs of ${name} fail`,
  'runs.stopped': name => `runsPerHour stops runs of ${name}`,
  'runs.unapproved': name => `A run of ${name} waits for approval`,
  'webhook.missed': name => `${name} has missed events`,
  'webhook.repeats': name => `The sender of ${name} repeats one body`,
  'webhook.previous-secret': name => `The sender of ${name} uses the previous secret`,
  'webhook.quiet': name => `${name} is quiet`,
  'quota.full': () => 'The factory has used its share',
  'automation.paused': name => `${name} is paused`,
  drift: () => 'The applied state differs from the files',
};

interface Subject {
  readonly type: AttentionKind;
  readonly webhook?: { readonly name: string } | null;
  readonly automation?: string | null;
}

/** Says in a sentence without its full stop what an alert is about. */
export function sayAlert({ type, webhook, automation }: Subject): string {
  return sentences[type](webhook?.name ?? automation ?? '');
}

/** Writes the reason of an alert as a sentence. Those of webhooks begin with the name, which stands above it. */
export function toSentence(reason: string, name?: string): string {
  const own = name !== undefined && reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;
  // An ID stays as it is.
  const begun = /^[a-z]+_/.test(own) ? own : `${own.charAt(0).toUpperCase()}${own.slice(1)}`;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Finds the first command in a remedy, in which backticks enclose commands. */
export function findCommand(remedy: string): string | undefined {
  return /`(hookmill [^`]+)`/.exec(remedy)?.[1];
}

/** Makes a command act on the factory, if it does not name one. */
export function inFactory(command: string, factory: string): string {
  if (factory === 'default' || command.includes('--factory ')) return command;
  return command.replace(/^hookmill /, `hookmill --factory ${factory} `);
}

const irregular: Readonly<Record<string, string>> = { begin: 'began', run: 'ran', send: 'sent', set: 'set' };

/** Names a change by its operation, as something that was done: `createWebhook` is `Created webhook`. */
export function sayChange(operation: string): string {
  const [verb = '', ...others] = describeOperation(operation).split(' ');
  const said = [irregular[verb] ?? toPast(verb), ...others].join(' ');
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}

function toPast(verb: string): string {
  if (verb.endsWith('e')) return `${verb}d`;
  if (verb.endsWith('cel')) return `${verb}led`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`;
}
