import type { Command } from 'commander';
import type { RunView } from '../../../operations/views/delivery-views.ts';
import type { Backend, OpenBackend } from '../../backend/backend.ts';
import { printData, printExactly } from '../../output.ts';
import { renderDeliveryOf, renderRunState } from '../../render/render-runs.ts';
import { renderFields } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs show`. */
export function declareRunsShow(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'show',
    'show one run',
    `
Examples:
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef --log`,
  )
    .argument('<id>', 'ID of the run')
    .option('--log', 'print only the output of its attempts, byte for byte')
    .action(async (id: string, options: { log?: true }, command: Command) => {
      const { backend, output } = await openBackend(command);
      if (options.log) {
        printExactly(await backend.call('showRunOutput', { params: { run: id } }));
        return;
      }
      const run = await backend.call('showRun', { params: { run: id } });
      const files = backend.findRunFiles(run.id);
      printData(output, { ...run, ...files }, () => renderRun(run, files));
    });
}

function renderRun(run: RunView, files: ReturnType<Backend['findRunFiles']>): string {
  return renderFields([
    ['id', run.id],
    ['automation', run.automation],
    ['delivery', renderDeliveryOf(run)],
    ...(run.deliveries ?? []).map(({ id, at, size }) => ['', `${id} ${at} ${size} bytes`] as const),
    ['webhook', run.webhook],
    ['state', renderRunState(run)],
    ['attempts', String(run.attempts)],
    ['created', run.createdAt],
    ['started', run.startedAt ?? '-'],
    ['finished', run.finishedAt ?? '-'],
    ['next attempt', renderNextAttempt(run)],
    ...(run.waitsUntil ? [['waits until', run.waitsUntil] as const] : []),
    ...(run.report ? [['report', run.report.message ?? '-'] as const] : []),
    ...(run.report?.link ? [['link', run.report.link] as const] : []),
    ['last error', run.error ?? '-'],
    ['directory', files?.directory ?? '-'],
    ['output', files?.outputFile ?? '-'],
    ...(run.artifacts ?? []).map(({ name, size }) => ['artifact', `${name} (${size} bytes)`] as const),
  ]);
}

/** Renders the time of the next attempt; a run that waits for others has none. */
function renderNextAttempt({ waitsFor, nextAttemptAt }: RunView): string {
  return waitsFor === 'order' || waitsFor === 'limit' ? '-' : (nextAttemptAt ?? '-');
}
