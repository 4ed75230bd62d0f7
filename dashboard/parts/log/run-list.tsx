import { describeRunState } from '../../../schema/clients/describe.ts';
import { hasEnded } from '../../../schema/delivery.ts';
import { callApi } from '../../api-client.ts';
import type { ShownRun } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import type { LogFilters } from '../../state/log-filters.ts';
import type { RowsPosition } from '../../state/row-list.ts';
import { formatCount } from '../../text/format-values.ts';
import { Empty } from '../lists.tsx';
import { lookOfRun, Sign } from '../signs.tsx';
import { ClockTime, Text } from '../text.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import { LogChips } from './log-chips.tsx';
import { type BulkAction, BulkButton, LiveSign, LogSearch, useLogFilters } from './log-controls.tsx';
import { type LogKind, LogList, useLog } from './log-list.tsx';

const runKind: LogKind<ShownRun> = {
  what: 'runs',
  read: readRuns,
  mayChange: ({ state }) => !hasEnded(state),
  timeOf: ({ createdAt }) => createdAt,
  look: 'r',
  renderCells: run => {
    const [sign, word] = lookOfRun(run);
    return (
      <>
        <Sign name={sign} label={word} />
        <span class="title cut">
          <Text text={run.automation} />
        </span>
        <span class="by flow">
          <Text text={run.webhook} />
        </span>
        <span class="res cut t3">
          <Text text={[describeRunState(run), run.error].filter(Boolean).join(': ') || word} />
        </span>
        <span class="num2" />
        <span class="num2 t3">{formatCount(run.attempts, 'attempt')}</span>
        <span class="num2" />
        <ClockTime at={run.createdAt} />
      </>
    );
  },
};

const bulkActions: readonly BulkAction[] = [
  {
    action: 'Retry all failed…',
    narrow: filters =>
      (filters.state ?? 'failed') === 'failed' ? { ...filters, state: 'failed' } : undefined,
    render: (filters, onClose) => <BulkRetry filters={filters} onClose={onClose} />,
  },
  {
    action: 'Cancel all…',
    narrow: filters =>
      filters.state === 'running' || (filters.state ?? 'queued') === 'queued'
        ? { ...filters, state: filters.state ?? 'queued' }
        : undefined,
    render: (filters, onClose) => <BulkCancel filters={filters} onClose={onClose} />,
  },
];

async function readRuns(factory: string, query: LogFilters & RowsPosition, signal: AbortSignal | undefined) {
  const { runs, ...end } = await callApi('get', '/factories/{factory}/runs', { factory, query, signal });
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

interface Properties {
  readonly fixed?: LogFilters;
}

/** The runs of a factory, or of one of its automations. */
export function RunList({ fixed }: Properties) {
  const { factory } = useFactory();
  const { chosen, filters, change, isFiltered } = useLogFilters(fixed);
  const log = useLog(runKind, filters);
  return (
    <>
      <div class="filters">
        <LogChips filters={chosen} offered={['time', 'webhook', 'event', 'state']} onChange={change} />
        <LiveSign log={log} />
        <span class="push" />
        <LogSearch value={chosen.search ?? ''} onChange={search => change({ search })} />
        {bulkActions.map(bulk => (
          <BulkButton key={bulk.action} bulk={bulk} filters={filters} onDone={log.refresh} />
        ))}
      </div>
      <LogList
        kind={runKind}
        log={log}
        locationOf={({ id }) => ({ page: 'run', factory, id })}
        empty={<Empty title={isFiltered ? 'No runs match the filters' : 'No runs yet'} />}
      />
    </>
  );
}
