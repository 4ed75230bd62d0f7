import type { RunView } from '../../operations/views/delivery-views.ts';
import { describeRunState, describeUsage } from '../../schema/clients/describe.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import { openTable, renderFields } from './render-table.ts';

/** Runs as a table. */
export function renderRuns(runs: readonly RunView[]): string {
  return openRunTable()(runs);
}

/** Opens a table of runs, whose rows may come little by little. */
export function openRunTable(): (runs: readonly RunView[]) => string {
  const table = openTable(['RUN', 'AUTOMATION', 'DELIVERY', 'STATE', 'ATTEMPTS', '']);
  return runs =>
    table(
      runs.map(run => {
        const { id, automation, runner, state, attempts, error, report } = run;
        const reported = state === 'running' || state === 'succeeded' ? report?.message : undefined;
        const texts = [reported ?? error, report && describeUsage(report)];
        const about = texts.filter(text => text !== undefined).join(' · ');
        const by = runner === defaultRunner ? automation : `${automation} on ${runner}`;
        return [id, by, renderDeliveryOf(run), renderRunState(run), String(attempts), about];
      }),
    );
}

/** Renders the delivery of a run, and the number of deliveries if the run gathers several. */
function renderDeliveryOf({ deliveryId, replay, manual, deliveryCount }: RunView): string {
  const count = deliveryCount === undefined || deliveryCount === 1 ? '' : ` (newest of ${deliveryCount})`;
  return `${deliveryId}${count}${replay ? ' (replay)' : manual ? ' (manual)' : ''}`;
}

function renderRunState(run: RunView): string {
  const more = describeRunState(run);
  return more === undefined ? run.state : `${run.state} (${more})`;
}

interface FoundFiles {
  readonly directory: string;
  readonly outputFile: string | undefined;
}

/** A run with its deliveries and attempts, and where its files are if they are on this machine. */
export function renderRun(run: RunView, files: FoundFiles | undefined): string {
  const used = run.report && describeUsage(run.report);
  return renderFields([
    ['id', run.id],
    ['automation', run.automation],
    ['runner', run.runner],
    ['delivery', renderDeliveryOf(run)],
    ...(run.deliveries ?? []).map(({ id, at, size }) => ['', `${id} ${at} ${size} bytes`] as const),
    ['webhook', run.webhook],
    ['state', renderRunState(run)],
    ...(run.cancel ? [['cancelled', describeCancel(run.cancel)] as const] : []),
    ...(run.afterwards ? [['afterwards', describeAfterwards(run.afterwards)] as const] : []),
    ...(run.againOf ? [['again of', run.againOf] as const] : []),
    [
      'attempts',
      run.attemptsMax === undefined ? String(run.attempts) : `${run.attempts} of ${run.attemptsMax}`,
    ],
    ...(run.history ?? []).map(attempt => ['', describeAttempt(attempt)] as const),
    ['created', run.createdAt],
    ['started', run.startedAt ?? '-'],
    ['finished', run.finishedAt ?? '-'],
    ['next attempt', renderNextAttempt(run)],
    ...(run.waitsUntil ? [['waits until', run.waitsUntil] as const] : []),
    ...(run.report ? [['report', run.report.message ?? '-'] as const] : []),
    ...(run.report?.link ? [['link', run.report.link] as const] : []),
    ...(used === undefined ? [] : [['used', used] as const]),
    ['last error', run.error ?? '-'],
    ['directory', files?.directory ?? '-'],
    ['output', files?.outputFile ?? '-'],
    ...(run.artifacts ?? []).map(({ name, size }) => ['artifact', `${name} (${size} bytes)`] as const),
  ]);
}

function describeAttempt({
  attempt,
  startedAt,
  endedAt,
  error,
}: NonNullable<RunView['history']>[number]): string {
  return `${attempt}: ${startedAt} to ${endedAt ?? 'now'}${error === undefined ? '' : `: ${error}`}`;
}

function describeCancel({ at, by, reason }: NonNullable<RunView['cancel']>): string {
  return `${at} by ${by}${reason === undefined ? '' : `: ${reason}`}`;
}

function describeAfterwards({ since, until, approval }: NonNullable<RunView['afterwards']>): string {
  if (approval) return `since ${since}, approved at ${approval.at} by ${approval.by}`;
  return `since ${since}${until === undefined ? '' : `, waits for approval until ${until}`}`;
}

/** Renders the time of the next attempt; a run that waits for others has none. */
function renderNextAttempt({ waitsFor, nextAttemptAt }: RunView): string {
  return waitsFor !== undefined && waitsFor !== 'deliveries' ? '-' : (nextAttemptAt ?? '-');
}
