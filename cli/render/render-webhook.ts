import type { SenderView } from '../../operations/senders/check-sender.ts';
import type { WebhookView } from '../../operations/views/applied-views.ts';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import { describeUnlogged } from '../../schema/clients/describe.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { completeCommands } from './own-commands.ts';

/** Renders one line about the requests of the last hour that have no row in the log; an empty text if there are none. */
export function renderUnlogged(requests: Parameters<typeof describeUnlogged>[0]): string {
  const texts = describeUnlogged(requests, at =>
    at.slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length),
  );
  return texts.length === 0 ? '' : `Refused and not logged in the last hour: ${texts.join(', ')}\n`;
}

/** The auth mode of a webhook, with its signature scheme if it has one. */
export function renderAuthMode({
  authMode,
  signatureScheme,
}: Pick<WebhookView, 'authMode' | 'signatureScheme'>): string {
  if (signatureScheme === null) return authMode;
  return `${authMode} (${typeof signatureScheme === 'string' ? signatureScheme : 'custom HMAC'})`;
}

/** Renders the hook of a webhook at its provider, with each finding and its remedy. Much of the text is the provider's. */
export function renderSender({ webhook, at, hooks, findings }: SenderView): string {
  const [hook] = hooks;
  const events = hook?.events.includes('*') ? 'all events' : hook?.events.join(', ');
  const head = printable(`${webhook}: ${at}${hook ? ` (hook ${hook.id}, ${events})` : ''}`);
  const lines = findings.flatMap(({ severity, message, remedy }) => [
    `  ${severity}: ${printable(message)}`,
    `    ${printable(completeCommands(remedy))}`,
  ]);
  return `${[head, ...(lines.length === 0 ? ['  as its definition says'] : lines)].join('\n')}\n`;
}

type SenderPlan = ApiAnswer<ApiRoutes['planSender']>;
type HookChange = SenderPlan['changes'][number];

const labels: Readonly<Record<HookChange['field'], string>> = {
  url: 'URL',
  contentType: 'content type',
  events: 'events',
  active: 'active',
  tls: 'TLS verification',
  secret: 'secret',
};

/** Renders what registering changes of a hook: what it has, and what it will have. `isRotating`: its secret is a new one. */
export function renderSenderPlan(plan: SenderPlan, isRotating = false): string {
  const { webhook, action, hookId, at, changes } = plan;
  if (action === 'none')
    return `Nothing to change: hook ${hookId} of ${printable(at)} is as ${webhook} needs it.\n`;
  const sign = action === 'create' ? colours.green('+') : colours.yellow('~');
  const hook = hookId === null ? 'new hook' : `hook ${hookId}`;
  const head = `${sign} ${colours.bold(printable(hook))} of ${printable(at)}, for the webhook ${webhook}\n`;
  return head + changes.map(change => `    ${printable(renderChange(change, isRotating))}\n`).join('');
}

function renderChange({ field, before, after }: HookChange, isRotating: boolean): string {
  // Providers mask secrets, so only a missing one is shown.
  const isShown = before !== null && (field !== 'secret' || before === 'none');
  const from = isShown ? `${before === '' ? 'none' : before} → ` : '';
  const what =
    field === 'secret' && isRotating ? after.replace(/^set to the value/, 'set to a new value') : after;
  return `${labels[field]}: ${from}${what}`;
}
