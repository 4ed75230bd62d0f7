import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';

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
