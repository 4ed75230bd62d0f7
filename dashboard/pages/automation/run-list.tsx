import { callApi } from '../../api-client.ts';
import type { ShownRun } from '../../api-types.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Empty } from '../../parts/empty.tsx';
import { PagedRows } from '../../parts/paged-rows.tsx';
import { RowSummary } from '../../parts/row-summary.tsx';
import { RunPanel } from '../../parts/run-panel.tsx';
import { RunStatePill } from '../../parts/run-state-pill.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { usePages } from '../../state/use-pages.ts';
import { useRunRefresh } from '../../state/use-run-refresh.ts';
import { formatCount } from '../../text/format-count.ts';

const pageSize = 20;
const idleMs = 15_000;

/** The runs of an automation, newest first. */
export function RunList({ automation }: { readonly automation: string }) {
  const { factory } = useFactory();
  const pages = usePages(
    async (cursor, signal) => {
      const query = { automation, limit: pageSize, cursor };
      const { runs, next } = await callApi('get', '/factories/{factory}/runs', { factory, query, signal });
      return { rows: runs, next };
    },
    [factory, automation],
  );
  useRunRefresh(pages.reload, pages.rows, idleMs);
  return (
    <section aria-labelledby="runs">
      <div class="section-heading">
        <h2 id="runs">Runs</h2>
      </div>
      <PagedRows
        pages={pages}
        what="runs"
        empty={
          <Empty title="No runs yet">
            <p>A run starts when a delivery matches a trigger.</p>
          </Empty>
        }
        renderRow={run => (
          <Disclosure key={run.id} summary={<RunSummary run={run} />}>
            {() => <RunPanel id={run.id} onRetried={pages.reload} />}
          </Disclosure>
        )}
      />
    </section>
  );
}

function RunSummary({ run }: { readonly run: ShownRun }) {
  return (
    <RowSummary
      pill={<RunStatePill state={run.state} />}
      id={run.id}
      note={run.error}
      size={formatCount(run.attempts, 'attempt')}
      at={run.createdAt}
    />
  );
}
