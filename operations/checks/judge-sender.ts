import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import { isFor } from '../../schema/definitions/judge-trigger.ts';
import { findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { toClauses } from '../../schema/filters/clause.ts';
import type { Missed, ProviderHook, SenderFinding, SenderProblem, SenderState } from '../../schema/sender.ts';
import { findScheme } from '../../signatures/schemes.ts';
import type { Definitions } from '../../sources/definitions.ts';

/** The parts of a webhook by which its hook is judged, as they are applied or planned. */
export type SendingWebhook = Pick<AppliedWebhook, 'name' | 'signatureScheme' | 'bodyFormat'> &
  Required<Pick<AppliedWebhook, 'sender'>>;

export interface JudgedSender {
  readonly webhook: SendingWebhook;
  readonly uid: string;
  /** The ingress URL. */
  readonly url: string;
  readonly automations: readonly Pick<AutomationDefinition, 'enabled' | 'triggers'>[];
  readonly state: SenderState;
  /** Why the newest verified or refused request was refused; undefined if it was verified, or if none came. */
  readonly refused?: string | undefined;
}

/**
 * Judges what was learned from a provider by what is applied or planned. The worst comes first. Pure, so that a plan can
 * judge by the definitions that it would apply.
 */
export function judgeSender(judged: JudgedSender): SenderFinding[] {
  const { webhook, url, uid, state } = judged;
  const { checked } = state;
  const check = `hookmill senders check ${webhook.name}`;
  if (!checked) return [note('never-checked', 'the provider has not been asked yet', `Run \`${check}\`.`)];
  const failed = checked.problem ? [describeProblem(checked.problem, webhook)] : [];
  if (checked.problem && checked.hooks.length === 0) return failed;
  const register = `Run \`hookmill senders register ${webhook.name}\`.`;
  const [hook, ...others] = checked.hooks;
  if (!hook) {
    const message = `the provider has no hook with the URL ${url}`;
    return [...failed, error('hook-missing', message, register), ...judgeMissed(state, webhook)];
  }
  const twice =
    others.length === 0
      ? []
      : [
          error(
            'hook-twice',
            `${checked.hooks.length} hooks send to the webhook: ${checked.hooks.map(({ id }) => id).join(', ')}`,
            'Delete all but one at the provider; of each event, the others only make duplicates.',
          ),
        ];
  const findings = [
    ...twice,
    ...judgeMissed(state, webhook),
    ...judgeReach(hook, { url, uid, register }),
    ...judgeTrust(hook, judged, register),
    ...judgeEvents(hook, judged, register),
  ];
  const rank = { error: 0, warning: 1, note: 2 };
  return [...findings, ...failed].toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

/**
 * Warns of hooks at providers that would not send what the definitions need, by what was last learned of them. Asks no
 * provider, so that a plan never waits for one.
 */
export function findSenderDiagnostics(
  { webhooks, automations, locate }: Pick<Definitions, 'webhooks' | 'automations' | 'locate'>,
  applied: Pick<AppliedState, 'webhooks'>,
  states: readonly SenderState[],
): Diagnostic[] {
  return webhooks.flatMap(({ sender, ...webhook }): Diagnostic[] => {
    const uid = applied.webhooks.find(({ name }) => name === webhook.name)?.uid;
    const state = states.find(known => known.uid === uid);
    if (!sender || uid === undefined || !state?.checked || state.checked.problem) return [];
    // The public URL is not part of a definition.
    const url = state.checked.hooks[0]?.url ?? '';
    const findings = judgeSender({ webhook: { ...webhook, sender }, uid, url, automations, state });
    const place = locate('webhook', webhook.name, ['sender']);
    return findings
      .filter(({ severity, code }) => severity !== 'note' && code !== 'missed')
      .map(({ message, remedy: hint }) => ({
        ...{ code: 'webhook/sender-differs', severity: 'warning', hint },
        ...{ message: `${message} (asked at ${state.checked?.at})`, ...place },
      }));
  });
}

/** Whether a hook sends to a webhook, under whatever public URL of the ingress. */
export function sendsTo({ url }: Pick<ProviderHook, 'url'>, uid: string): boolean {
  return URL.canParse(url) && new URL(url).pathname.replace(/\/+$/, '').endsWith(`/webhooks/w/${uid}`);
}

function judgeReach(
  hook: ProviderHook,
  { url, uid, register }: { readonly url: string; readonly uid: string; readonly register: string },
): SenderFinding[] {
  const found: SenderFinding[] = [];
  if (!sendsTo(hook, uid)) {
    found.push(
      error('url-differs', `the hook ${hook.id} sends to ${hook.url}, which is not this webhook`, register),
    );
  } else if (hook.url !== url) {
    found.push(warning('url-differs', `the hook sends to ${hook.url}; the ingress URL is ${url}`, register));
  }
  if (hook.disabledUntil !== null) {
    const message = `the provider has disabled the hook until ${hook.disabledUntil}, because deliveries failed`;
    found.push(error('disabled', message, 'Mend the cause, then send a test event at the provider.'));
  } else if (!hook.isActive) {
    found.push(error('inactive', 'the hook is not active, so the provider sends nothing', register));
  }
  const { lastAnswer } = hook;
  if (lastAnswer && (lastAnswer.status === null || lastAnswer.status >= 300)) {
    const status = lastAnswer.status === null ? 'no answer' : `the answer ${lastAnswer.status}`;
    const message = `the provider's last delivery got ${status}${lastAnswer.message === '' ? '' : ` (${lastAnswer.message})`}`;
    found.push(warning('last-answer', message, 'Run `hookmill why` for this webhook.'));
  }
  return found;
}

function judgeTrust(
  hook: ProviderHook,
  { webhook, refused }: JudgedSender,
  register: string,
): SenderFinding[] {
  const found: SenderFinding[] = [];
  const wanted = findFormFormat(webhook) ? 'form' : 'json';
  if (hook.contentType !== wanted) {
    const message = `the hook sends ${nameFormat(hook.contentType)}, and the webhook takes ${nameFormat(wanted)}`;
    found.push(error('content-type', message, register));
  }
  if (hook.hasSecret === false) {
    found.push(error('secret-missing', 'the hook has no secret, so no delivery is verified', register));
  } else if (refused !== undefined) {
    const message = `the newest delivery was refused: ${refused}`;
    found.push(error('secret-wrong', message, `If the secret differs: ${register}`));
  }
  if (!hook.verifiesTls) {
    const message = 'the provider does not verify the certificate of the ingress';
    found.push(warning('tls-off', message, register));
  }
  return found;
}

function nameFormat(format: ProviderHook['contentType']): string {
  return format === 'json' ? 'JSON' : 'forms';
}

function judgeEvents(
  hook: ProviderHook,
  { webhook, uid, automations }: JudgedSender,
  register: string,
): SenderFinding[] {
  const needed = findNeededEvents(webhook, uid, automations);
  if (!needed) return [];
  const isAll = hook.events.includes('*');
  // GitHub sends a ping to every hook, and lets none subscribe to it.
  const missing = isAll ? [] : needed.filter(event => event !== 'ping' && !hook.events.includes(event));
  const unneeded = hook.events.filter(event => !needed.includes(event) && event !== 'ping');
  const found: SenderFinding[] = [];
  if (missing.length > 0) {
    found.push(
      error(
        'events-missing',
        `automations wait for ${missing.join(', ')}, which the hook does not send`,
        register,
      ),
    );
  }
  if (unneeded.length > 0) {
    const message = isAll
      ? `the hook sends all events, and automations wait only for ${needed.join(', ')}`
      : `the hook sends ${unneeded.join(', ')}, which no automation waits for`;
    found.push(note('events-unneeded', message, register));
  }
  return found;
}

/**
 * The events for which the enabled automations of a webhook wait, by the names in its event header, sorted. Undefined
 * if a trigger takes any event, or if no automation listens: then nobody can say what is needed.
 */
export function findNeededEvents(
  { signatureScheme }: Pick<SendingWebhook, 'signatureScheme'>,
  uid: string,
  automations: JudgedSender['automations'],
): string[] | undefined {
  const header = findScheme(signatureScheme)?.eventHeaders?.[0]?.toLowerCase();
  const triggers = automations
    .filter(({ enabled }) => enabled)
    .flatMap(automation => automation.triggers)
    .filter(trigger => isFor(trigger, uid));
  if (header === undefined || triggers.length === 0) return undefined;
  const needed = new Set<string>();
  for (const { filter } of triggers) {
    const condition = Object.entries(filter.headers ?? {}).find(
      ([name]) => name.toLowerCase() === header,
    )?.[1];
    const clause = toClauses(condition)?.find(({ operator }) => operator === 'in');
    if (!clause || !('values' in clause)) return undefined;
    for (const value of clause.values) needed.add(String(value));
  }
  return [...needed].sort();
}

/** Describes the events that a provider tried to deliver and that did not arrive; undefined if there are none. */
export function describeMissed({ events, attempts, inVain, lost, first, last }: Missed): string | undefined {
  const times = first === last ? `at ${first}` : `between ${first} and ${last}`;
  const asked =
    inVain === 0 ? '' : `, ${inVain === events ? '' : `${inVain} of them `}not even when asked for again`;
  const missed = `the provider tried ${count(attempts, 'time')} to deliver ${count(events, 'event')} ${times}, which did not arrive${asked}`;
  const names = lost.map(({ event, events }) => `${events} ${event}`).join(', ');
  const forgotten = `the provider has forgotten events that did not arrive when asked for again: ${names}`;
  const said = [...(events > 0 ? [missed] : []), ...(lost.length > 0 ? [forgotten] : [])];
  return said.length === 0 ? undefined : said.join('; ');
}

function judgeMissed({ missed }: SenderState, { name }: SendingWebhook): SenderFinding[] {
  const message = missed ? describeMissed(missed) : undefined;
  if (!missed || message === undefined) return [];
  if (missed.events === 0) return [warning('missed', message, 'Do by hand what their runs would have done.')];
  const remedy = `Run \`hookmill senders missed ${name} --redeliver\`.`;
  return [warning('missed', message, missed.recovering > 0 ? 'The daemon asks for them again.' : remedy)];
}

/** A provider that does not answer is no problem of the webhook; all others wait for a person. */
function describeProblem(
  { code, message, remedy }: SenderProblem,
  { sender, name }: SendingWebhook,
): SenderFinding {
  const again = `\`hookmill senders check ${name}\``;
  if (code === 'unreachable' || code === 'rate-limited')
    return note('provider-failed', message, remedy ?? `Try again later with ${again}.`);
  const isRight = code === 'forbidden' || code === 'not-found';
  const own = isRight
    ? `Give the token in the team secret ${sender?.credentialSecret} the right, or correct \`sender\` in webhooks/${name}.yaml.`
    : `Correct \`sender\` in webhooks/${name}.yaml or what the message names, then run ${again}.`;
  return warning('provider-failed', message, remedy ?? own);
}

type Make = (code: SenderFinding['code'], message: string, remedy: string) => SenderFinding;

const error: Make = (code, message, remedy) => ({ code, severity: 'error', message, remedy });
const warning: Make = (code, message, remedy) => ({ code, severity: 'warning', message, remedy });
const note: Make = (code, message, remedy) => ({ code, severity: 'note', message, remedy });

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
