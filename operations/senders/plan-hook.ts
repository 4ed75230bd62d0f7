import type { z } from 'zod';
import { describeSender } from '../../schema/definitions/sender-keys.ts';
import { findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import type { OwnIngressUrl } from '../../schema/ingress-url.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { ProviderHook } from '../../schema/sender.ts';
import type { senderPlanAnswer } from '../../schema/views/senders.ts';
import type { WantedHook } from '../../senders/provider-client.ts';
import { findScheme } from '../../signatures/schemes.ts';
import { findNeededEvents, type JudgedSender, sendsTo } from '../checks/judge-sender.ts';
import type { SentWebhook } from './open-sender.ts';

export type HookChange = z.output<typeof senderPlanAnswer>['changes'][number];

export interface HookPlan {
  /** The hook as the provider has it; undefined: it is created. */
  readonly hook: ProviderHook | undefined;
  /** Its URL, if that is not of this webhook: whoever has it would lose it. */
  readonly takesOver: string | null;
  /** The hook as it will be. The value of its secret is not part of any plan. */
  readonly wanted: Omit<WantedHook, 'secret'>;
  /** Empty if nothing has to change. */
  readonly changes: readonly HookChange[];
}

export interface PlannedHook {
  readonly webhook: SentWebhook;
  readonly url: OwnIngressUrl;
  readonly automations: JudgedSender['automations'];
  /** All hooks of the place that the definition names. */
  readonly hooks: readonly ProviderHook[];
  /** Events that the hook must send besides those that automations wait for. */
  readonly events: readonly string[];
  /** Whether the secret is set although nothing else changes. */
  readonly setsSecret: boolean;
}

/**
 * Plans what registering changes of a webhook's hook: everything that the definition says. Fails with `hook-conflict` if the
 * hooks at the provider do not allow it, and with `sender-not-ready`. Pure.
 */
export function planHook(planned: PlannedHook): HookPlan {
  const { webhook, url, setsSecret } = planned;
  const hook = findHook(planned);
  const contentType = chooseContentType(webhook);
  const wanted = { url, contentType, events: chooseEvents(planned, hook) };
  const before: Partial<Record<HookChange['field'], string>> = hook ? describeHook(hook) : {};
  const after = describeHook({ ...wanted, isActive: true, verifiesTls: true });
  const differing = fields.flatMap((field): HookChange[] =>
    before[field] === after[field] ? [] : [{ field, before: before[field] ?? null, after: after[field] }],
  );
  if (differing.length === 0 && !setsSecret && hook?.hasSecret !== false)
    return { hook, takesOver: null, wanted, changes: [] };
  const takesOver = hook && !sendsTo(hook, webhook.uid) ? hook.url : null;
  return { hook, takesOver, wanted, changes: [...differing, describeSecret(webhook, hook)] };
}

const fields = ['url', 'contentType', 'events', 'active', 'tls'] as const;

type Shown = Pick<ProviderHook, 'url' | 'contentType' | 'isActive' | 'verifiesTls'> & {
  readonly events: readonly string[];
};

function describeHook(hook: Shown): Record<(typeof fields)[number], string> {
  const { url, contentType, events, isActive, verifiesTls } = hook;
  return {
    ...{ url, contentType, events: [...new Set(events)].sort().join(', ') },
    active: isActive ? 'yes' : 'no',
    tls: verifiesTls ? 'on' : 'off',
  };
}

/** Providers mask secrets, and lose one that a change leaves out. So each change sets it. */
function describeSecret({ secretName }: SentWebhook, hook: ProviderHook | undefined): HookChange {
  const before = { true: 'set', false: 'none', null: 'unknown' }[`${hook?.hasSecret ?? null}`];
  return { field: 'secret', before: hook ? before : null, after: `set to the value of ${secretName}` };
}

function findHook({ webhook, hooks }: PlannedHook): ProviderHook | undefined {
  const { name, uid, sender } = webhook;
  const { app, hookId } = sender;
  const at = describeSender(sender);
  if (app !== undefined) {
    if (hooks[0]) return hooks[0];
    throw conflict(
      `${at} has no webhook, and the API of GitHub cannot create the webhook of an app; set its URL and a secret on the settings page of the app, then register again`,
    );
  }
  const named = hookId === undefined ? undefined : hooks.find(({ id }) => id === String(hookId));
  if (hookId !== undefined && !named)
    throw conflict(
      `${at} has no hook ${hookId}; remove hookId from \`sender\` in webhooks/${name}.yaml to create a hook`,
    );
  const own = hooks.filter(hook => hook === named || sendsTo(hook, uid));
  if (own.length < 2) return own[0];
  const ids = own.map(({ id }) => id).join(', ');
  throw conflict(
    `${own.length} hooks of ${at} send to the webhook ${name}: ${ids}; delete all but one of them there`,
  );
}

function chooseContentType(webhook: SentWebhook): ProviderHook['contentType'] {
  if (!findFormFormat(webhook)) return 'json';
  if (webhook.sender.provider === 'github') return 'form';
  throw notReady(
    `GitLab sends only JSON, and the webhook ${webhook.name} takes forms; remove bodyFormat from its definition`,
  );
}

function chooseEvents({ webhook, automations, events }: PlannedHook, hook: ProviderHook | undefined) {
  const { sender, uid, name } = webhook;
  // GitHub sends a ping to every hook, and lets none subscribe to it.
  const waitedFor = findNeededEvents(webhook, uid, automations)?.filter(event => event !== 'ping') ?? [];
  if (sender.app !== undefined && hook) return requireAppEvents(waitedFor, events, hook);
  if (events.includes('*')) {
    if (sender.provider === 'github') return ['*'];
    throw notReady('GitLab has no event *; name each event, as in --event "Push Hook"');
  }
  if (waitedFor.length + events.length > 0) return [...new Set([...waitedFor, ...events])].sort();
  if (hook && hook.events.length > 0) return hook.events;
  const header = findScheme(webhook.signatureScheme)?.eventHeaders?.[0];
  throw notReady(
    `no automation says which events the webhook ${name} waits for; name them with --event, or filter by the header ${header} in the automations`,
  );
}

/** The events of an app are part of its registration, which the API of GitHub only shows. */
function requireAppEvents(
  waitedFor: readonly string[],
  asked: readonly string[],
  { events }: ProviderHook,
): readonly string[] {
  const missing = [...waitedFor, ...asked].filter(event => !events.includes(event));
  if (missing.length === 0) return events;
  throw conflict(
    `the app does not send ${missing.join(', ')}, and the API of GitHub cannot change the events of an app; subscribe to them on its page "Permissions & events"`,
  );
}

function conflict(detail: string): Refusal {
  return new Refusal('hook-conflict', { detail });
}

function notReady(detail: string): Refusal {
  return new Refusal('sender-not-ready', { detail });
}
