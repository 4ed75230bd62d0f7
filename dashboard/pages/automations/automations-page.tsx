import { useState } from 'preact/hooks';
import type { ListedAutomation, ListedWebhook, ShownRunTallies } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Spark } from '../../parts/charts.tsx';
import { ChoiceChip, ToggleChip } from '../../parts/chips.tsx';
import { Finder, LinkButton } from '../../parts/controls.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { Monogram, schemeOf } from '../../parts/monogram.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { State } from '../../parts/signs.tsx';
import { Link, Text, Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { areSettled, type Loading, useLoad, usePolled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
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
  return (
    <table class="edge">
      <thead>
        <tr>
          <th scope="col">Automation</th>
          <th scope="col" class="no-phone">
            Starts on
          </th>
          <th scope="col" class="no-phone">
            Run control
          </th>
          <th scope="col">Last run</th>
          <th scope="col" class="right no-phone">
            Runs, 24 h
          </th>
          <th scope="col" class="right no-phone">
            Failed
          </th>
          <th scope="col" class="right no-phone">
            24 hours
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <AutomationRow key={row.automation.name} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function AutomationRow({ row }: { readonly row: ShownRow }) {
  const { factory } = useFactory();
  const { automation, runs } = row;
  const day = (hours: readonly number[] = []) => hours.slice(-dayHours);
  const [succeeded, failed, cancelled] = [day(runs?.succeeded), day(runs?.failed), day(runs?.cancelled)];
  const [ended, failures] = [sum(succeeded) + sum(failed) + sum(cancelled), sum(failed)];
  const control = describeRuns(automation);
  return (
    <tr class="go">
      <td>
        <a
          class={`stretch name ${automation.enabled ? '' : 't3'}`}
          href={toHref({ page: 'automation', factory, id: automation.name })}
        >
          <bdi>{automation.name}</bdi>
        </a>
      </td>
      <td class="no-phone">
        <StartsOn row={row} />
      </td>
      <td class="no-phone t2">
        <Text text={control === '' ? '—' : control} />
      </td>
      <td>
        <LastRun row={row} />
      </td>
      <td class={`right no-phone ${ended === 0 ? 't3' : ''}`}>{ended.toLocaleString('en')}</td>
      <td class={`right no-phone ${failures === 0 ? 't3' : 'bad'}`}>{failures.toLocaleString('en')}</td>
      <td class="right no-phone">
        <Spark
          bars={Array.from({ length: dayHours }, (_, hour) => ({
            usual: (succeeded[hour] ?? 0) + (cancelled[hour] ?? 0),
            bad: failed[hour] ?? 0,
          }))}
        />
      </td>
    </tr>
  );
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

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
