import type { WhyView } from '../../operations/why/why.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { renderTable } from './render-table.ts';
import { renderUnlogged } from './render-unlogged.ts';

const marks = {
  ok: colours.green('✓'),
  wrong: colours.red('✗'),
  unknown: colours.dim('·'),
} as const;

/** The steps of a request, the first one that is wrong with its remedy, and the last deliveries. */
export function renderWhy({ subject, webhook, cause, steps, last, unlogged }: WhyView): string {
  const name = webhook && webhook.name !== subject ? ` (webhook ${webhook.name})` : '';
  const verdict = cause === null ? colours.green('nothing is wrong') : colours.red(`look at ${cause}`);
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.flatMap(({ step, state, message, remedy, lines }) => {
    const indent = ' '.repeat(width + 6);
    const more = [...lines.map(printable), ...(remedy === null ? [] : [`→ ${printable(remedy)}`])];
    return [
      `  ${marks[state]} ${step.padEnd(width)}  ${printable(message)}`,
      ...more.map(line => `${indent}${line}`),
    ];
  });
  const rows = last.map(({ outcome, id, at }) => [outcome, id, at]);
  const deliveries = rows.length === 0 ? '' : `\n${renderTable(['LAST', 'DELIVERY', 'TIME'], rows)}`;
  const refused = renderUnlogged(unlogged);
  return `${printable(subject)}${printable(name)}: ${verdict}\n\n${lines.join('\n')}\n${deliveries}${refused && `\n${refused}`}`;
}
