import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownDelivery, ShownRun } from '../../api-answers.ts';
import { Path, type PathStep } from '../../parts/path.tsx';
import { ClockTime, Id, Link, Size, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { nowMs } from '../../state/time.ts';
import { formatDuration } from '../../text/format-time.ts';
import { formatCount } from '../../text/format-values.ts';
import { listStretches, placeStretch } from '../../text/run-path.ts';

export interface PathProperties {
  readonly run: ShownRun;
  readonly delivery: ShownDelivery | undefined;
}

/** What happened to a run, in order. */
export function RunPath({ run, delivery }: PathProperties) {
  const now = hasEnded(run.state) ? 0 : nowMs.value;
  return (
    <Path
      label="What happened"
      steps={[...originSteps(run, delivery), ...workSteps(run, now), ...endSteps(run)]}
    />
  );
}

/** The delivery, and the clauses by which it matched. */
function originSteps(run: ShownRun, delivery: ShownDelivery | undefined): PathStep[] {
  if (!delivery) return [];
  const verdict = delivery.evaluation?.automations.find(({ automation }) => automation === run.automation);
  const trigger = verdict?.triggers.find(({ wouldTrigger }) => wouldTrigger);
  const clauses = trigger ? [...(trigger.headers?.clauses ?? []), ...trigger.clauses] : [];
  return [
    {
      key: 'received',
      sign: 'done',
      title: <Received run={run} delivery={delivery} />,
      at: <ClockTime at={delivery.at} />,
      more: (
        <>
          <DeliveryLink id={delivery.id} /> · <Size bytes={delivery.size} />
          {run.deliveries &&
            ` · the newest of ${formatCount(run.deliveries.length, 'delivery', 'deliveries')}`}
        </>
      ),
    },
    ...(clauses.length === 0 || run.manual
      ? []
      : [
          {
            key: 'matched',
            sign: 'done' as const,
            title: <b>Matched</b>,
            more: clauses.map(({ path, operator, allowed }) => (
              <div key={path + allowed} class="mono small">
                <Text text={`${path} ${operator.replaceAll('_', ' ')} ${allowed}`} />
              </div>
            )),
          },
        ]),
  ];
}

function Received({ run, delivery }: { readonly run: ShownRun; readonly delivery: ShownDelivery }) {
  const { factory } = useFactory();
  if (run.manual) return <b>Started by hand</b>;
  return (
    <>
      <b>{run.replay ? 'Delivery replayed' : 'Delivery received'}</b> from{' '}
      <Link class="link" to={{ page: 'webhook', factory, id: delivery.uid }} text={delivery.webhook} />
    </>
  );
}

function workSteps(run: ShownRun, now: number): PathStep[] {
  return listStretches(run).map(stretch => {
    const isOpen = stretch.toMs === null;
    const length = formatDuration(Math.max(0, (stretch.toMs ?? now) - stretch.fromMs));
    return {
      key: stretch.key,
      sign: stretch.sign,
      title: <b>{stretch.title}</b>,
      at: <span class={isOpen && stretch.sign === 'running' ? 'run' : ''}>{length}</span>,
      more: <StretchNote run={run} note={stretch.note} isBad={stretch.sign === 'failed'} isOpen={isOpen} />,
      took: placeStretch(stretch, run, now),
      ...(isOpen && { stage: 'now' as const }),
    };
  });
}

interface NoteProperties {
  readonly run: ShownRun;
  readonly note: string | undefined;
  readonly isBad: boolean;
  readonly isOpen: boolean;
}

function StretchNote({ run, note, isBad, isOpen }: NoteProperties) {
  const { factory } = useFactory();
  const last = isOpen && run.startedAt && run.state === 'running' && run.timeLimitSeconds;
  return (
    <>
      {note !== undefined && <Text class={isBad ? 'bad' : ''} text={note} />}
      {last && run.startedAt && (
        <span>
          Ends by <ClockTime at={new Date(Date.parse(run.startedAt) + last * 1_000).toISOString()} /> at the
          latest.
        </span>
      )}
      {isOpen && run.heldBy !== undefined && (
        <>
          {' '}
          <Link
            class="link"
            to={{ page: 'run', factory, id: run.heldBy }}
            text="The failed run that holds it"
          />
        </>
      )}
      {isOpen && run.nextAttemptAt && run.state === 'queued' && run.attempts > 0 && (
        <span>
          {' '}
          The next attempt is due at <ClockTime at={run.nextAttemptAt} />.
        </span>
      )}
    </>
  );
}

/** Approval, artifacts, cancellation, and what a failed run holds. */
function endSteps(run: ShownRun): PathStep[] {
  const { afterwards, cancel, artifacts, state } = run;
  const steps: PathStep[] = [];
  if (afterwards) {
    steps.push({
      key: 'approval',
      sign: afterwards.approval ? 'done' : 'turn',
      title: <b>{afterwards.approval ? 'Approved' : 'Waits for approval'}</b>,
      at: afterwards.approval && <ClockTime at={afterwards.approval.at} />,
      more: afterwards.approval ? (
        <>
          by <Text text={afterwards.approval.by} />
        </>
      ) : (
        afterwards.until && (
          <>
            It is cancelled without it at <ClockTime at={afterwards.until} />.
          </>
        )
      ),
    });
  }
  if (artifacts) {
    steps.push({
      key: 'artifacts',
      sign: hasEnded(state) ? 'done' : 'queued',
      title: hasEnded(state) ? <b>Artifacts</b> : 'Artifacts',
      more: <Text text={artifacts.map(({ name }) => name).join(', ')} />,
      ...(!hasEnded(state) && { stage: 'next' as const }),
    });
  }
  if (cancel) {
    steps.push({
      key: 'cancelled',
      sign: 'dismissed',
      title: <b>{hasEnded(state) ? 'Cancelled' : 'Is being cancelled'}</b>,
      at: <ClockTime at={cancel.at} />,
      more: (
        <>
          by <Text text={cancel.by} />
          {cancel.reason !== undefined && (
            <>
              : <Text text={cancel.reason} />
            </>
          )}
        </>
      ),
    });
  }
  if (run.holds) {
    steps.push({
      key: 'holds',
      sign: 'held',
      title: <b>Holds the runs behind it</b>,
      more: 'onFailure: hold',
    });
  }
  return steps;
}

export function DeliveryLink({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  return (
    <a class="link" href={toHref({ page: 'delivery', factory, id })}>
      <Id id={id} isCopied={false} />
    </a>
  );
}
