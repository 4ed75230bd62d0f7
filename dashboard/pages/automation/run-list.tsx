import { callApi } from '../../api-client.ts';
import type { ShownRun } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { RunPanel } from '../../parts/run-panel.tsx';
import { RunStatePill } from '../../parts/run-state-pill.tsx';
import { Text } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { usePages } from '../../state/use-pages.ts';
import { useRunRefresh } from '../../state/use-run-refresh.ts';
import { formatCount } from '../../text/format-count.ts';

const pageSize = 20;
const idleMs = 15_000;

/** The runs of an automation, newest first. */
export function RunList({ automation }: { readonly automation: string }) {
  const { factory } = useFactory();
  const { rows, error, reload, busy, readMore } = usePages(
    async (cursor, signal) => {
      const query = { automation, limit: pageSize, cursor };
      const { runs, next } = await callApi('get', '/factories/{factory}/runs', { factory, query, signal });
      return { rows: runs, next };
    },
    [factory, automation],
  );
  useRunRefresh(reload, rows, idleMs);
  return (
    <section aria-labelledby="runs">
      <div class="section-heading">
        <h2 id="runs">Runs</h2>
      </div>
      {!rows ? (
        <Waiting error={error} reload={reload} what="runs" />
      ) : rows.length === 0 ? (
        <Empty title="No runs yet">
          <p>A run starts when a delivery matches a trigger.</p>
        </Empty>
      ) : (
        <ul class="card rows runs">
          {rows.map(run => (
            <Disclosure key={run.id} summary={<RunSummary run={run} />}>
              {() => <RunPanel id={run.id} onRetried={reload} />}
            </Disclosure>
          ))}
        </ul>
      )}
      {rows && <ProblemNotice error={error} />}
      {readMore && (
        <button type="button" class="more" disabled={busy} onClick={readMore}>
          Show older runs
        </button>
      )}
    </section>
  );
}

function RunSummary({ run }: { readonly run: ShownRun }) {
  return (
    <>
      <RunStatePill state={run.state} />
      <code class="id">{run.id}</code>
      {run.error !== undefined && (
        <span class="reason">
          <Text text={run.error} />
        </span>
      )}
      <span class="muted size">{formatCount(run.attempts, 'attempt')}</span>
      <span class="muted time">
        <Time at={run.createdAt} />
      </span>
    </>
  );
}
