import { useMemo } from 'preact/hooks';
import { describeUsage } from '../../../schema/clients/describe.ts';
import type { RunState } from '../../../schema/delivery.ts';
import type { ShownRunTallies } from '../../api-answers.ts';
import { ToggleChip } from '../../parts/chips.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { type ChangeFilters, LogChips } from '../../parts/log/log-chips.tsx';
import { BarTitle, BulkButton, LiveSign, LogSearch, useLogFilters } from '../../parts/log/log-controls.tsx';
import { LogList, NoRows, useLog } from '../../parts/log/log-list.tsx';
import { bulkRunActions, runKind } from '../../parts/log/run-list.tsx';
import { useWindowTitle } from '../../parts/page-heading.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { areSettled, type Loading } from '../../state/loading.ts';
import type { LogFilters } from '../../state/log-filters.ts';
import { useApi } from '../../state/use-api.ts';

/** The runs of all automations of the factory. */
export function RunsPage() {
  const { factory } = useFactory();
  const { chosen, filters, change, clear, isFiltered } = useLogFilters();
  const log = useLog(runKind, filters);
  const hasCost = useMemo(
    () => log.segments?.some(({ rows }) => rows.some(({ report }) => report && describeUsage(report))),
    [log.segments],
  );
  const tallies = useTallies();
  useWindowTitle('Runs');
  if (!areSettled(tallies)) return <Waiting error={undefined} reload={tallies.reload} what="runs" />;
  return (
    <div class={`log runs-log ${hasCost ? 'has-cost' : ''}`}>
      <div class="bar">
        <BarTitle title="Runs" />
        <LiveSign log={log} />
        <div class="filters">
          <LogChips filters={chosen} offered={['time', 'automation', 'webhook', 'event']} onChange={change} />
          <StateChips tallies={tallies.value} filters={filters} onChange={change} />
        </div>
        <span class="push" />
        <LogSearch value={chosen.search ?? ''} onChange={search => change({ search })} />
        {bulkRunActions.map(bulk => (
          <BulkButton key={bulk.action} bulk={bulk} filters={filters} onDone={log.refresh} />
        ))}
      </div>
      <div class="panes">
        <section class="pane" aria-label="Runs, newest first">
          <div class="row r hd no-phone" aria-hidden="true">
            <span />
            <span>Automation</span>
            <span>Started by</span>
            <span>Result</span>
            <span>Duration</span>
            <span>Attempt</span>
            <span class="cost">Cost</span>
            <span>Created</span>
          </div>
          <LogList
            kind={runKind}
            log={log}
            locationOf={({ id }) => ({ page: 'run', factory, id })}
            empty={
              <NoRows kind={runKind} isFiltered={isFiltered} onClear={clear}>
                A run starts when a delivery matches the filter of an automation.
              </NoRows>
            }
          />
        </section>
      </div>
    </div>
  );
}

const stateChips = [
  ['running', 'Running', ''],
  ['queued', 'Waiting', ''],
  ['failed', 'Failed', 'bad'],
  ['cancelled', 'Cancelled', undefined],
  ['succeeded', 'Succeeded', undefined],
] as const satisfies readonly (readonly [RunState, string, '' | 'bad' | undefined])[];

const talliesEveryMs = 15_000;

function useTallies(): Loading<ShownRunTallies> {
  const { factory } = useFactory();
  return useApi('/factories/{factory}/run-tallies', { factory }, talliesEveryMs);
}

interface ChipsProperties {
  readonly tallies: ShownRunTallies | undefined;
  readonly filters: LogFilters;
  readonly onChange: ChangeFilters;
}

/** One chip for each state of runs; the states in which somebody may have to act are counted. */
function StateChips({ tallies, filters, onChange }: ChipsProperties) {
  const failedInDay = tallies?.automations.reduce(
    (sum, { failed }) => sum + failed.slice(-24).reduce((total, count) => total + count, 0),
    0,
  );
  const counts: Partial<Record<RunState, number | undefined>> = {
    running: tallies?.now.running,
    queued: tallies && tallies.now.queued + tallies.now.held + tallies.now.waiting,
    failed: failedInDay,
  };
  return (
    <>
      {stateChips.map(([state, label, tone]) => (
        <ToggleChip
          key={state}
          label={label}
          tone={tone ?? ''}
          on={filters.state === state}
          count={tone === undefined ? undefined : counts[state]}
          onToggle={on => onChange({ state: on ? state : '' })}
        />
      ))}
    </>
  );
}
