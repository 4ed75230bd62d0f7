import type { SenderView } from '../../operations/senders/check-sender.ts';

/** What is known of a webhook's hook, and what to do. */
export function renderSender({ webhook, at, hooks, findings }: SenderView): string {
  const [hook] = hooks;
  const events =
    hook && ` (hook ${hook.id}, ${hook.events.includes('*') ? 'all events' : hook.events.join(', ')})`;
  const head = `${webhook}: ${at}${events ?? ''}\n`;
  const lines = findings.map(({ severity, message, remedy }) => `  ${severity}: ${message}\n    ${remedy}\n`);
  return head + (lines.length === 0 ? '  as its definition says\n' : lines.join(''));
}
