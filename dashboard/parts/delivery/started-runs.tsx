import type { ShownDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { formatCount } from '../../text/format-values.ts';
import { Pill, RunStatePill } from '../pills.tsx';
import { TriggerVerdictPanel } from '../trigger-verdict.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
  readonly onReplay: (() => void) | undefined;
}

/** The runs that a delivery started, and why other automations did not start one. */
export function StartedRuns({ delivery: { runs, evaluation, outcome }, onReplay }: Properties) {
  const { factory } = useFactory();
  if (outcome !== 'Accepted' && runs.length === 0) return null;
  return (
    <section aria-label="Runs" class="started">
      <div class="section-heading">
        <h3>{runs.length === 0 ? 'Started no runs' : `Started ${formatCount(runs.length, 'run')}`}</h3>
        {onReplay && (
          <button type="button" class="push" onClick={onReplay}>
            Replay…
          </button>
        )}
      </div>
      {runs.length > 0 && (
        <ul class="plain-list">
          {runs.map(run => (
            <li key={run.id} class="pair">
              <RunStatePill state={run.state} />
              <a href={toHref({ page: 'run', factory, id: run.id })}>
                <code>{run.id}</code>
              </a>
              <span class="t3">
                {run.automation}
                {run.replay ? ' (replay)' : run.manual && ' (manual)'}
                {run.deliveryCount !== undefined &&
                  ` (one run for ${formatCount(run.deliveryCount, 'delivery', 'deliveries')})`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {evaluation?.automations.map(verdict => (
        <details key={verdict.automation}>
          <summary>
            {verdict.automation}{' '}
            <Pill tone={verdict.wouldTrigger ? 'good' : 'quiet'}>{getVerdictLabel(verdict)}</Pill>
          </summary>
          {verdict.triggers.map((trigger, index) => (
            <TriggerVerdictPanel key={index} verdict={trigger} />
          ))}
        </details>
      ))}
      {evaluation?.automations.length === 0 && <p class="t3">No automation listened to the webhook.</p>}
    </section>
  );
}

type Verdict = NonNullable<ShownDelivery['evaluation']>['automations'][number];

function getVerdictLabel({ enabled, wouldTrigger }: Verdict): string {
  if (wouldTrigger) return 'triggered';
  return enabled ? 'did not match' : 'disabled';
}
