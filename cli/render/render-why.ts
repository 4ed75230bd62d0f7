import type { WhyView } from '../../operations/why/why.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { completeCommands } from './own-commands.ts';
import { renderTable } from './render-table.ts';
import { renderUnlogged } from './render-unlogged.ts';

const marks = {
  ok: colours.green('✓'),
  wrong: colours.red('✗'),
  earlier: colours.yellow('!'),
  unknown: colours.dim('·'),
} as const;

/** The cause as a sentence, the steps of a request with what is or was wrong and its remedy, and the last deliveries. */
export function renderWhy({ subject, webhook, cause, steps, last, unlogged }: WhyView): string {
  const name = webhook && webhook.name !== subject ? ` (webhook ${webhook.name})` : '';
  const found = steps.find(({ step }) => step === cause);
  const verdict = found
    ? colours.red(`Cause: ${printable(found.message)}`)
    : colours.green('Nothing is wrong');
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.flatMap(({ step, state, message, remedy, lines }) => {
    const indent = ' '.repeat(width + 6);
    const more = [
      ...lines.map(printable),
      ...(remedy === null ? [] : [`→ ${printable(completeCommands(remedy))}`]),
    ];
    return [
      `  ${marks[state]} ${step.padEnd(width)}  ${printable(message)}`,
      ...more.map(line => `${indent}${line}`),
    ];
  });
  const rows = last.map(({ outcome, id, at }) => [outcome, id, at]);
  const deliveries = rows.length === 0 ? '' : `\n${renderTable(['LAST', 'DELIVERY', 'TIME'], rows)}`;
  const refused = renderUnlogged(unlogged);
  return `${printable(subject)}${printable(name)}\n${verdict}.\n\n${lines.join('\n')}\n${deliveries}${refused && `\n${refused}`}`;
}
