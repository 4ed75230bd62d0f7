import type { WhyView } from '../../operations/why/why.ts';
import { printable } from '../../schema/text/printable.ts';
import { openBackend } from '../backend/open-backend.ts';
import { explainNotApplied } from '../describe-error.ts';
import { exitStatus } from '../exit-status.ts';
import { printData } from '../output.ts';
import { colours } from '../render/colours.ts';
import { completeCommands } from '../render/own-commands.ts';
import { renderTable } from '../render/render-table.ts';
import { renderUnlogged } from '../render/render-webhook.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill why`. */
export function declareWhy(command: CliCommand): void {
  command
    .explain(`explain why a delivery started runs or did not, or what a run waits for

Shows each step from the sender to the runs, the first one that is wrong, and what to do; then the open alerts about the
webhook and its automations. Of a webhook, it explains the last request.
Exits with 1 if a step is wrong, an alert about it is open or the webhook is not applied, with 0 if everything is fine.

Examples:
  hookmill why deploys
  hookmill why dlv_01jd3m8z9qk5v7w2x4y6abcdef -o json
  hookmill why run_01jd3m8z9qk5v7w2x4y6abcdef`)
    .argument('<webhook>', 'name or UID of a webhook, or ID of a delivery or run')
    .action(async (subject: string, _options, command: CliCommand) => {
      const { backend, output, directory } = await openBackend(command);
      const why = await backend.call('explainWhy', { params: { subject } }).catch((error: unknown) => {
        throw explainNotApplied(error, directory, subject) ?? error;
      });
      printData(output, why, () => renderWhy(why));
      if (why.cause !== null || why.attention.length > 0) process.exitCode = exitStatus.problems;
    });
}

const marks = {
  ok: colours.green('✓'),
  wrong: colours.red('✗'),
  earlier: colours.yellow('!'),
  unknown: colours.dim('·'),
} as const;

/** The cause as a sentence, the steps of a request with what is or was wrong and its remedy, and the last deliveries. */
function renderWhy(why: WhyView): string {
  const { subject, webhook, steps, last, unlogged, attention } = why;
  const name = webhook && webhook.name !== subject ? ` (webhook ${webhook.name})` : '';
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
  const alerts = attention.map(({ type, since, reason, remedy }) => {
    const advice = remedy === null ? '' : `\n    → ${printable(completeCommands(remedy))}`;
    return `  ${type} since ${since}: ${printable(reason)}${advice}\n`;
  });
  const open = alerts.length === 0 ? '' : `\nOpen alerts:\n${alerts.join('')}`;
  const refused = renderUnlogged(unlogged);
  return `${printable(subject)}${printable(name)}\n${renderVerdict(why)}.\n\n${lines.join('\n')}\n${open}${deliveries}${refused && `\n${refused}`}`;
}

/** The cause; without one, the worst alert. */
function renderVerdict({ cause, steps, attention: [worst] }: WhyView): string {
  const found = steps.find(({ step }) => step === cause);
  if (found) return colours.red(`Cause: ${printable(found.message)}`);
  if (worst) return colours.red(`No step is wrong now, but an alert is open: ${printable(worst.reason)}`);
  return colours.green('Nothing is wrong');
}
