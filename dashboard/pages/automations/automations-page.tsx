import { useState } from 'preact/hooks';
import type { ListedAutomation, ListedWebhook, ShownRunTallies } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Spark, type SparkBar } from '../../parts/charts.tsx';
import { ChoiceChip, ToggleChip } from '../../parts/chips.tsx';
import { Finder, LinkButton } from '../../parts/controls.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { State } from '../../parts/signs.tsx';
import { type Column, Count, LinkTable } from '../../parts/tables.tsx';
import { Link, Text, Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { areSettled, type Loading, useLoad, usePolled } from '../../state/loading.ts';
import { sum } from '../../text/delivery-bars.ts';
import { describeFilters, describeRuns } from '../../text/describe-automation.ts';

const listEveryMs = 30_000;
const dayHours = 24;
/** Automations without a run whose filters are tested, and the last deliveries by which each is. */
const tested = { automations: 12, deliveries: 20 } as const;

interface Row {
  readonly automation: ListedAutomation;
  readonly webhooks: readonly ListedWebhook[];
  readonly runs: ShownRunTallies['automations'][number] | undefined;
  readonly isPaused: boolean;
  readonly isRunning: boolean;
}

interface ShownRow extends Row {
  /** Whether its filters match none of the last deliveries. */
  readonly isUnmatched: boolean;
}

export function AutomationsPage() {
  const { factory, mayManage, managedHere } = useFactory();
  const { value, error, reload } = usePolled(signal => readRows(factory, signal), [factory], listEveryMs);
  const unmatched = useUnmatched(value);
  return (
    <div class="page">
      <PageHeading
        title="Automations"
        actions={
          mayManage && (
            <LinkButton
              look="primary"
              icon="plus"
              label={managedHere ? 'New automation' : 'Draft an automation'}
              to={{ page: 'new-automation', factory }}
            />
          )
        }
      />
      {!value || !areSettled(unmatched) ? (
        <Waiting error={error} reload={reload} what="automations" />
      ) : value.length === 0 ? (
        <Empty title="No automations yet">
          <p>
            An automation is a prompt, and the triggers that start a run of it.{' '}
            <Link to={{ page: 'webhooks', factory }} text="See the webhooks" />
          </p>
        </Empty>
      ) : (
        <AutomationList
          rows={value.map(row => ({
            ...row,
            isUnmatched: unmatched.value?.has(row.automation.name) ?? false,
          }))}
        />
      )}
    </div>
  );
}

/** The names of automations that have never run, and that match none of the last deliveries of their webhooks. */
function useUnmatched(rows: readonly Row[] | undefined): Loading<ReadonlySet<string> | undefined> {
  const { factory } = useFactory();
  const names = rows
    ?.filter(({ automation, runs, isRunning }) => automation.enabled && !runs?.lastRun && !isRunning)
    .map(({ automation }) => automation.name)
    .slice(0, tested.automations);
  return useLoad(
    async (signal): Promise<ReadonlySet<string> | undefined> => {
      const results = names?.map(async automation => {
        const body = { automation, last: tested.deliveries };
        const path = '/factories/{factory}/automation-matches';
        const { deliveries, matches } = await callApi('post', path, { factory, body, signal });
        return deliveries.length > 0 && matches === 0 ? [automation] : [];
      });
      return results && new Set((await Promise.all(results)).flat());
    },
    [factory, names?.join()],
  );
}

async function readRows(factory: string, signal: AbortSignal): Promise<readonly Row[]> {
  const given = { factory, signal };
  const [{ automations }, { webhooks }, { pauses }, tallies, { runs }] = await Promise.all([
    callApi('get', '/factories/{factory}/automations', given),
    callApi('get', '/factories/{factory}/webhooks', given),
    callApi('get', '/factories/{factory}/pauses', given),
    callApi('get', '/factories/{factory}/run-tallies', given),
    callApi('get', '/factories/{factory}/runs', { ...given, query: { state: 'running' } }),
  ]);
  const tallied = new Map(tallies.automations.map(each => [each.automation, each]));
  const byUid = new Map(webhooks.map(webhook => [webhook.uid, webhook]));
  const paused = new Set(pauses.map(({ automation }) => automation));
  const running = new Set(runs.map(({ automation }) => automation));
  return automations.map(automation => {
    const uids = [...new Set(automation.triggers.map(({ uid }) => uid))];
    return {
      automation,
      webhooks: uids.flatMap(uid => byUid.get(uid) ?? []),
      runs: tallied.get(automation.name),
      isPaused: paused.has(automation.name),
      isRunning: running.has(automation.name),
    };
  });
}

function AutomationList({ rows }: { readonly rows: readonly ShownRow[] }) {
  const [sought, setSought] = useState('');
  const [webhook, setWebhook] = useState('');
  const [isFailing, setFailing] = useState(false);
  const [isDisabled, setDisabled] = useState(false);
  const names = [...new Set(rows.flatMap(({ webhooks }) => webhooks.map(({ name }) => name)))].sort();
  const shown = rows.filter(
    row =>
      row.automation.name.includes(sought.trim().toLowerCase()) &&
      (webhook === '' || row.webhooks.some(({ name }) => name === webhook)) &&
      (!isFailing || fails(row)) &&
      (!isDisabled || !row.automation.enabled),
  );
  return (
    <>
      <div class="filters">
        <Finder label="Find an automation" value={sought} onInput={setSought} />
        <ChoiceChip
          label="Webhook"
          value={webhook}
          none="All webhooks"
          options={names.map(name => ({ value: name, label: name }))}
          onChoose={setWebhook}
        />
        <ToggleChip
          label="Failing"
          on={isFailing}
          onToggle={setFailing}
          count={rows.filter(fails).length}
          tone="bad"
        />
        <ToggleChip
          label="Disabled"
          on={isDisabled}
          onToggle={setDisabled}
          count={rows.filter(({ automation }) => !automation.enabled).length}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title="No automation is like that">
          <p>{rows.length} automations were searched. Drop a filter to see more.</p>
        </Empty>
      ) : (
        <AutomationTable rows={shown} />
      )}
    </>
  );
}

/** Whether its last run failed. */
function fails({ automation, runs }: Row): boolean {
  return automation.enabled && runs?.lastRun?.state === 'failed';
}

function AutomationTable({ rows }: { readonly rows: readonly ShownRow[] }) {
  const { factory } = useFactory();
  return <LinkTable columns={listColumns(factory)} rows={rows} keyOf={row => row.automation.name} />;
}

function listColumns(factory: string): readonly Column<ShownRow>[] {
  return [
    {
      head: 'Automation',
      cell: ({ automation: { name, enabled } }) => (
        <Link
          class={`stretch name ${enabled ? '' : 't3'}`}
          to={{ page: 'automation', factory, id: name }}
          text={name}
        />
      ),
    },
    { head: 'Starts on', class: 'no-phone', cell: row => <StartsOn row={row} /> },
    {
      ...{ head: 'Run control', class: 'no-phone', look: 't2' },
      cell: ({ automation }) => <Text text={describeRuns(automation) || '—'} />,
    },
    { head: 'Last run', cell: row => <LastRun row={row} /> },
    {
      ...{ head: 'Runs, 24 h', class: 'right no-phone' },
      cell: row => <Count count={sum(dayOf(row).flatMap(({ usual, bad }) => [usual, bad]))} />,
    },
    {
      ...{ head: 'Failed', class: 'right no-phone' },
      cell: row => <Count count={sum(dayOf(row).map(({ bad }) => bad))} tone="bad" />,
    },
    { head: '24 hours', class: 'right no-phone', cell: row => <Spark bars={dayOf(row)} /> },
  ];
}

/** The runs that ended in each of the last 24 hours. */
function dayOf({ runs }: Row): readonly SparkBar[] {
  return Array.from({ length: dayHours }, (_, hour) => {
    const at = (hours: readonly number[] = []) => hours.slice(-dayHours)[hour] ?? 0;
    return { usual: at(runs?.succeeded) + at(runs?.cancelled), bad: at(runs?.failed) };
  });
}

/** The webhook and the condition of the first trigger; of the others only how many there are. */
function StartsOn({ row: { automation, webhooks } }: { readonly row: Row }) {
  const [first, ...others] = automation.triggers;
  const webhook = webhooks.find(({ uid }) => uid === first?.uid);
  return (
    <span class="flow">
      {webhook ? (
        <>
          <Monogram scheme={schemeOf(webhook)} name={webhook.name} />
          <Text class="nowrap" text={webhook.name} />
        </>
      ) : (
        <State sign="warning">deleted webhook</State>
      )}
      <span class="t3 cut">
        <Text text={first ? describeFilters(first) : ''} />
        {others.length > 0 && ` and ${others.length} more`}
      </span>
    </span>
  );
}

function LastRun({
  row: { automation, runs, isPaused, isRunning, isUnmatched },
}: {
  readonly row: ShownRow;
}) {
  if (!automation.enabled) return <State sign="disabled">disabled</State>;
  if (isPaused) return <State sign="held">paused</State>;
  if (isRunning) return <State sign="running">running</State>;
  const { lastRun } = runs ?? {};
  if (isUnmatched) return <State sign="warning">never matches</State>;
  if (!lastRun) return <span class="t3">—</span>;
  const at = <Time at={lastRun.at} />;
  if (lastRun.state === 'succeeded') return <State sign="done">{at}</State>;
  return (
    <State sign={lastRun.state === 'failed' ? 'failed' : 'dismissed'}>
      {lastRun.state} {at}
    </State>
  );
}
