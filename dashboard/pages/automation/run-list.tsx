import { useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Run } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Empty, ProblemNotice, Waiting } from '../../parts/problem-notice.tsx';
import { RunView } from '../../parts/run-panel.tsx';
import { RunState } from '../../parts/run-state-pill.tsx';
import { Text } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useAction } from '../../state/use-action.ts';
import { useInterval } from '../../state/use-interval.ts';
import { useLoad } from '../../state/use-load.ts';
import { counted } from '../../text/format-count.ts';

const pageSize = 20;
const whileGoingMs = 2_000;
const otherwiseMs = 15_000;

/** The runs of an automation, newest first. */
export function RunList({ automation }: { readonly automation: string }) {
  const { factory } = useFactory();
  const [older, setOlder] = useState<{ runs: readonly Run[]; next: string | null }>();
  const read = (cursor?: string, signal?: AbortSignal) =>
    callApi('get', '/factories/{factory}/runs', {
      factory,
      query: { automation, limit: pageSize, ...(cursor !== undefined && { cursor }) },
      signal,
    });
  const first = useLoad(signal => read(undefined, signal), [factory, automation]);
  const going = first.value?.runs.some(({ state }) => state === 'queued' || state === 'running');
  useInterval(first.reload, going ? whileGoingMs : otherwiseMs);
  const next = older ? older.next : first.value?.next;
  const paging = useAction(async () => {
    const page = await read(next ?? undefined);
    setOlder(known => ({ runs: [...(known?.runs ?? []), ...page.runs], next: page.next }));
  });
  const rows = first.value && [
    ...new Map([...first.value.runs, ...(older?.runs ?? [])].map(run => [run.id, run])).values(),
  ];
  return (
    <section aria-labelledby="runs">
      <div class="section-heading">
        <h2 id="runs">Runs</h2>
      </div>
      {!rows ? (
        <Waiting error={first.error} reload={first.reload} what="runs" />
      ) : rows.length === 0 ? (
        <Empty title="No runs yet">
          <p>A delivery that matches a trigger starts one.</p>
        </Empty>
      ) : (
        <ul class="card rows runs">
          {rows.map(run => (
            <Disclosure key={run.id} summary={<RunSummary run={run} />}>
              {() => <RunView id={run.id} onRetried={first.reload} />}
            </Disclosure>
          ))}
        </ul>
      )}
      <ProblemNotice error={paging.error} />
      {next && (
        <button type="button" class="more" disabled={paging.busy} onClick={() => paging.run()}>
          Show older runs
        </button>
      )}
    </section>
  );
}

function RunSummary({ run }: { readonly run: Run }) {
  return (
    <>
      <RunState state={run.state} />
      <code class="id">{run.id}</code>
      {run.error !== undefined && (
        <span class="reason">
          <Text text={run.error} />
        </span>
      )}
      <span class="muted size">{counted(run.attempts, 'attempt')}</span>
      <span class="muted time">
        <Time at={run.createdAt} />
      </span>
    </>
  );
}
