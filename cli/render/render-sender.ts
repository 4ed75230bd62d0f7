import type { SenderView } from '../../operations/senders/check-sender.ts';
import { printable } from '../../schema/text/printable.ts';
import { completeCommands } from './own-commands.ts';

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
