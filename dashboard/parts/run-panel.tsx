import { useState } from 'preact/hooks';
import { describeRunState, describeUsage } from '../../schema/clients/describe.ts';
import { hasEnded } from '../../schema/delivery.ts';
import { callApi } from '../api-client.ts';
import type { ShownRun } from '../api-types.ts';
import { announce } from '../state/announcements.ts';
import { useFactory } from '../state/current-factory.ts';
import { useLoad, useRunRefresh } from '../state/loading.ts';
import { toHref } from '../state/page-location.ts';
import { useAction } from '../state/use-action.ts';
import { formatDuration } from '../text/format-time.ts';
import { formatCount } from '../text/format-values.ts';
import { CopyableBlock } from './copyable.tsx';
import { FormDialog } from './dialog-form.tsx';
import { Waiting } from './lists.tsx';
import { RunStatePill } from './pills.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { Code, ExactTime, Fact, Facts, Text } from './text.tsx';

interface Properties {
  readonly id: string;
  readonly onChanged?: () => void;
}

const announcements = {
  retry: 'The run is queued again',
  dismiss: 'The run is dismissed',
  cancel: 'The run is being cancelled',
  approve: 'The run is approved',
} as const;

/** One run: its state and times, its automation and delivery, why it failed, its prompt and its output. */
export function RunPanel({ id, onChanged }: Properties) {
  const { factory, mayManage } = useFactory();
  const run = useLoad(
    signal => callApi('get', '/factories/{factory}/runs/{run}', { factory, run: id, signal }),
    [factory, id],
  );
  useRunRefresh(run.reload, run.value && [run.value]);
  const acting = useAction(async (act: keyof typeof announcements) => {
    run.put(await callApi('post', `/factories/{factory}/runs/{run}/${act}`, { factory, run: id, body: {} }));
    announce(announcements[act]);
    onChanged?.();
  });
  if (!run.value) return <Waiting error={run.error} reload={run.reload} what="the run" />;
  return (
    <div class="stack">
      {run.value.error !== undefined && (
        <p class="notice bad">
          <strong>The last attempt failed:</strong> <Text text={run.value.error} />
        </p>
      )}
      <RunFacts run={run.value} />
      {mayManage && run.value.state === 'failed' && (
        <div class="actions">
          <button
            type="button"
            class="btn primary"
            disabled={acting.busy}
            onClick={() => acting.run('retry')}
          >
            Retry
          </button>
          {!run.value.dismissed && (
            <button type="button" disabled={acting.busy} onClick={() => acting.run('dismiss')}>
              Dismiss
            </button>
          )}
        </div>
      )}
      {mayManage && run.value.waitsFor === 'approval' && (
        <div class="actions">
          <button
            type="button"
            class="btn primary"
            disabled={acting.busy}
            onClick={() => acting.run('approve')}
          >
            Approve
          </button>
        </div>
      )}
      {mayManage && !hasEnded(run.value.state) && !run.value.cancel && (
        <CancelAction state={run.value.state} onCancel={() => acting.run('cancel')} />
      )}
      <ProblemNotice error={acting.error} />
      {run.value.prompt !== undefined && (
        <details>
          <summary>Prompt</summary>
          <CopyableBlock text={run.value.prompt} what="prompt" />
        </details>
      )}
      <Output run={run.value} />
    </div>
  );
}

interface CancelProperties {
  readonly state: ShownRun['state'];
  readonly onCancel: () => void;
}

/** Cancels the run, after it has asked. */
function CancelAction({ state, onCancel }: CancelProperties) {
  const [asking, setAsking] = useState(false);
  const submit = async () => {
    onCancel();
    setAsking(false);
  };
  return (
    <div class="actions">
      <button type="button" class="danger-quiet" onClick={() => setAsking(true)}>
        Cancel run
      </button>
      {asking && (
        <FormDialog
          title="Cancel this run?"
          action="Cancel run"
          danger
          onSubmit={submit}
          onClose={() => setAsking(false)}
        >
          <p>{state === 'running' ? 'What it is doing is ended.' : 'It never starts.'} It is not retried.</p>
        </FormDialog>
      )}
    </div>
  );
}

function RunFacts({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  const more = describeRunState(run);
  return (
    <Facts>
      <Fact term="State">
        <RunStatePill state={run.state} /> after {formatCount(run.attempts, 'attempt')}
        {more !== undefined && ` (${more})`}
      </Fact>
      <Steering run={run} />
      <TimeFact term="Next attempt due" at={run.nextAttemptAt} due />
      <TimeFact term="Waits for its receiver until" at={run.waitsUntil} due />
      {run.report && <Report report={run.report} />}
      <Fact term="Automation">
        <a href={toHref({ page: 'automation', factory, id: run.automation })}>
          <Text text={run.automation} />
        </a>
        {run.replay ? ' (replay)' : run.manual && ' (manual)'}
      </Fact>
      <Fact term="Runner">
        <Text text={run.runner} />
      </Fact>
      <Fact term={run.deliveries ? 'Newest delivery' : 'Delivery'}>
        <DeliveryLink id={run.deliveryId} />
      </Fact>
      <AllDeliveries deliveries={run.deliveries} />
      <TimeFact term="Created" at={run.createdAt} />
      <TimeFact term="Started" at={run.startedAt} />
      <TimeFact term="Finished" at={run.finishedAt} />
      {run.startedAt && run.finishedAt && (
        <Fact term="Duration">{formatDuration(Date.parse(run.finishedAt) - Date.parse(run.startedAt))}</Fact>
      )}
      {run.artifacts && (
        <Fact term="Artifacts">
          <Text text={run.artifacts.map(({ name, size }) => `${name} (${size} bytes)`).join(', ')} />
        </Fact>
      )}
      <Fact term="Run ID">
        <a href={toHref({ page: 'run', factory, id: run.id })}>
          <Code text={run.id} />
        </a>
      </Fact>
    </Facts>
  );
}

/** Who cancelled, approved or repeated the run. */
function Steering({ run: { cancel, afterwards, againOf } }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  return (
    <>
      {cancel && (
        <Fact term="Cancelled">
          <ExactTime at={cancel.at} /> by <Text text={cancel.by} />
          {cancel.reason !== undefined && (
            <>
              : <Text text={cancel.reason} />
            </>
          )}
        </Fact>
      )}
      {afterwards?.approval && (
        <Fact term="Approved">
          <ExactTime at={afterwards.approval.at} /> by <Text text={afterwards.approval.by} />
        </Fact>
      )}
      {againOf !== undefined && (
        <Fact term="Again of">
          <a href={toHref({ page: 'run', factory, id: againOf })}>
            <Code text={againOf} />
          </a>
        </Fact>
      )}
    </>
  );
}

interface TimeProperties {
  readonly term: string;
  readonly at: string | null | undefined;
  readonly due?: boolean;
}

function TimeFact({ term, at, due = false }: TimeProperties) {
  if (!at) return null;
  return (
    <Fact term={term}>
      <ExactTime at={at} due={due} />
    </Fact>
  );
}

/** The report of an attempt. It is untrusted, but the API accepts only http and https links. */
function Report({ report }: { readonly report: NonNullable<ShownRun['report']> }) {
  const { at, message, link } = report;
  const used = describeUsage(report);
  return (
    <Fact term="Reported">
      {message !== undefined && <Text text={message} />} <ExactTime at={at} />
      {link !== undefined && (
        <div>
          <a href={link} target="_blank" rel="noreferrer">
            <Text text={link} />
          </a>
        </div>
      )}
      {used !== undefined && <div>{used}</div>}
    </Fact>
  );
}

/** The deliveries of a run that gathers them. */
function AllDeliveries({ deliveries }: Pick<ShownRun, 'deliveries'>) {
  if (!deliveries) return null;
  return (
    <Fact term="All deliveries">
      <details>
        <summary>{formatCount(deliveries.length, 'delivery', 'deliveries')}</summary>
        <ol>
          {deliveries.map(({ id }) => (
            <li key={id}>
              <DeliveryLink id={id} />
            </li>
          ))}
        </ol>
      </details>
    </Fact>
  );
}

function DeliveryLink({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  return (
    <a href={toHref({ page: 'delivery', factory, id })}>
      <Code text={id} />
    </a>
  );
}

/** The output of all attempts. It grows while the run is executed. */
function Output({ run }: { readonly run: ShownRun }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/runs/{run}/output', { factory, run: run.id, signal }),
    [factory, run.id, run.state, run.attempts],
  );
  useRunRefresh(reload, [run]);
  if (value === undefined && error === undefined) return null;
  if (value === undefined || value === '') return <p class="t3">No output is stored.</p>;
  return <CopyableBlock text={value} what="output" />;
}
