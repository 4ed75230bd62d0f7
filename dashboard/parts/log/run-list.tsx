import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownRun } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import type { LogFilters } from '../../state/log-filters.ts';
import type { RowsPosition } from '../../state/row-list.ts';
import { nowMs } from '../../state/time.ts';
import { lookOfRun } from '../../text/looks.ts';
import { describeResult, lengthOfRun } from '../../text/run-path.ts';
import { Monogram } from '../monogram.tsx';
import { Sign } from '../signs.tsx';
import { ClockTime, Text } from '../text.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import type { BulkAction } from './log-controls.tsx';
import type { LogKind } from './log-list.tsx';

/** Runs in a list. Webhooks are drawn by the scheme that their delivery names. */
export const runKind: LogKind<ShownRun> = {
  what: 'runs',
  read: readRuns,
  mayChange: ({ state }) => !hasEnded(state),
  timeOf: ({ createdAt }) => createdAt,
  look: 'r',
  renderCells: run => <RunCells run={run} />,
};

function RunCells({ run }: { readonly run: ShownRun }) {
  const [sign, word] = lookOfRun(run);
  const { text, tone } = describeResult(run);
  const { summary, report, attempts, attemptsMax, webhook, manual } = run;
  const event = [summary?.title ?? webhook, summary?.text].filter(Boolean).join(' · ');
  return (
    <>
      <Sign name={sign} label={word} />
      <Text class="title cut" text={run.automation} />
      <span class="by flow t2">
        <Monogram scheme={summary?.scheme ?? null} name={webhook} />
        <Text class="cut" text={manual ? 'by hand' : event} />
      </span>
      <Text class={`res cut ${resultClasses[tone]}`} text={text || word} />
      <span class={`num2 ${run.state === 'running' ? 'run' : ''}`}>
        <RunLength run={run} />
      </span>
      <span class={`num2 ${attempts > 1 ? '' : 't3'}`}>
        {attemptsMax === undefined ? attempts : `${attempts} of ${attemptsMax}`}
      </span>
      <span class="num2 cost t2">{report?.costUsd !== undefined && `$${report.costUsd.toFixed(2)}`}</span>
      <ClockTime at={run.createdAt} />
    </>
  );
}

const resultClasses = { plain: '', quiet: 't3', bad: 'bad' } as const;

function RunLength({ run }: { readonly run: ShownRun }) {
  return <>{lengthOfRun(run, run.finishedAt === null ? nowMs.value : 0)}</>;
}

/** What may be done with all runs that filters choose. */
export const bulkRunActions: readonly BulkAction[] = [
  {
    action: 'Retry failed…',
    narrow: filters =>
      (filters.state ?? 'failed') === 'failed' ? { ...filters, state: 'failed' } : undefined,
    render: (filters, onClose) => <BulkRetry filters={filters} onClose={onClose} />,
  },
  {
    action: 'Cancel all…',
    narrow: filters => (filters.state === 'running' || filters.state === 'queued' ? filters : undefined),
    render: (filters, onClose) => <BulkCancel filters={filters} onClose={onClose} />,
  },
];

async function readRuns(factory: string, query: LogFilters & RowsPosition, signal: AbortSignal | undefined) {
  const { runs, ...end } = await callApi('get', '/factories/{factory}/runs', {
    factory,
    query: { ...query, summary: 'true' },
    signal,
  });
  return { rows: runs, ...end };
}

interface BulkProperties {
  readonly filters: LogFilters;
  readonly onClose: () => void;
}

function BulkRetry({ filters, onClose }: BulkProperties) {
  const { factory } = useFactory();
  const path = '/factories/{factory}/runs/{run}/retry';
  return (
    <BulkDialog
      words={{ verb: 'Retry', done: 'queued again', one: 'failed run', many: 'failed runs' }}
      read={async (position, signal) => {
        const page = await readRuns(factory, { ...filters, ...position }, signal);
        return { ...page, rows: page.rows.filter(({ dismissed }) => !dismissed) };
      }}
      act={run => callApi('post', path, { factory, run, body: {} })}
      onClose={onClose}
    >
      <p>
        Queues the runs again that nobody has dismissed, oldest first, and counts their attempts from zero.
        Keep the page open until it is done.
      </p>
    </BulkDialog>
  );
}

/** Cancels all queued runs that the filters choose, or all running ones. */
function BulkCancel({ filters, onClose }: BulkProperties) {
  const { factory } = useFactory();
  const path = '/factories/{factory}/runs/{run}/cancel';
  const kind = `${filters.state} run`;
  return (
    <BulkDialog
      words={{ verb: 'Cancel', done: 'cancelled', one: kind, many: `${kind}s` }}
      read={(position, signal) => readRuns(factory, { ...filters, ...position }, signal)}
      act={run => callApi('post', path, { factory, run, body: {} })}
      onClose={onClose}
    >
      <p>
        {filters.state === 'running' ? 'What they are doing is ended.' : 'They never start.'} They are not
        retried. Keep the page open until it is done.
      </p>
    </BulkDialog>
  );
}
