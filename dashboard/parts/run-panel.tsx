import { callApi } from '../api-client.ts';
import type { Run } from '../api-types.ts';
import { announce } from '../state/announcements.ts';
import { useFactory } from '../state/current-factory.ts';
import { hrefOf } from '../state/page-location.ts';
import { useAction } from '../state/use-action.ts';
import { useInterval } from '../state/use-interval.ts';
import { useLoad } from '../state/use-load.ts';
import { duration } from '../text/format-time.ts';
import { CopyableBlock } from './copyable.tsx';
import { ProblemNotice, Waiting } from './problem-notice.tsx';
import { Code, Text } from './text.tsx';
import { ExactTime } from './time.tsx';

const whileGoingMs = 2_000;

interface Properties {
  readonly id: string;
  readonly onRetried?: () => void;
}

/** One run: where it comes from, how it went, and what it put out. */
export function RunView({ id, onRetried }: Properties) {
  const { factory, mayManage } = useFactory();
  const run = useLoad(
    signal => callApi('get', '/factories/{factory}/runs/{run}', { factory, run: id, signal }),
    [factory, id],
  );
  const going = run.value?.state === 'queued' || run.value?.state === 'running';
  useInterval(run.reload, going ? whileGoingMs : undefined);
  const retrying = useAction(async () => {
    run.put(await callApi('post', '/factories/{factory}/runs/{run}/retry', { factory, run: id, body: {} }));
    announce('The run is queued again');
    onRetried?.();
  });
  if (!run.value) return <Waiting error={run.error} reload={run.reload} what="the run" />;
  return (
    <div class="stack">
      {run.value.error !== undefined && (
        <p class="notice bad">
          <strong>The last attempt failed:</strong> <Text text={run.value.error} />
        </p>
      )}
      <Facts run={run.value} />
      {mayManage && run.value.state === 'failed' && (
        <div class="actions">
          <button type="button" class="primary" disabled={retrying.busy} onClick={() => retrying.run()}>
            Retry
          </button>
        </div>
      )}
      <ProblemNotice error={retrying.error} />
      <Output key={`${run.value.state}${run.value.attempts}`} run={run.value} />
    </div>
  );
}

function Facts({ run }: { readonly run: Run }) {
  const { factory } = useFactory();
  return (
    <dl class="facts">
      <div>
        <dt>Automation</dt>
        <dd>
          <a href={hrefOf({ page: 'automation', factory, id: run.automation })}>
            <Text text={run.automation} />
          </a>
          {run.replay && ' (a replay)'}
        </dd>
      </div>
      <div>
        <dt>Delivery</dt>
        <dd>
          <a href={hrefOf({ page: 'delivery', factory, id: run.deliveryId })}>
            <Code text={run.deliveryId} />
          </a>
        </dd>
      </div>
      <div>
        <dt>Queued</dt>
        <dd>
          <ExactTime at={run.createdAt} />
        </dd>
      </div>
      {run.startedAt && run.finishedAt && (
        <div>
          <dt>Took</dt>
          <dd>{duration(Date.parse(run.finishedAt) - Date.parse(run.startedAt))}</dd>
        </div>
      )}
      {run.nextAttemptAt && run.attempts > 0 && (
        <div>
          <dt>Next attempt</dt>
          <dd>
            <ExactTime at={run.nextAttemptAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>Run</dt>
        <dd>
          <a href={hrefOf({ page: 'run', factory, id: run.id })}>
            <Code text={run.id} />
          </a>
        </dd>
      </div>
    </dl>
  );
}

function Output({ run }: { readonly run: Run }) {
  const { factory } = useFactory();
  const { value, error } = useLoad(
    signal => callApi('get', '/factories/{factory}/runs/{run}/output', { factory, run: run.id, signal }),
    [factory, run.id],
  );
  if (value === undefined && error === undefined) return null;
  if (value === undefined || value === '') return <p class="muted">No output is kept.</p>;
  return <CopyableBlock text={value} what="output" />;
}
