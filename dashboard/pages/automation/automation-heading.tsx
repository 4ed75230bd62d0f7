import type { ShownAutomation, ShownPause, ShownRunTallies } from '../../api-answers.ts';
import { Button } from '../../parts/controls.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { State } from '../../parts/signs.tsx';
import { ExactTime, Link, Text, Time } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { formatCount } from '../../text/format-values.ts';
import { AutomationMenu } from './automation-menu.tsx';

export interface ShownApplied {
  readonly automation: ShownAutomation;
  readonly pause: ShownPause | undefined;
  readonly runs: ShownRunTallies['automations'][number] | undefined;
}

interface Properties {
  readonly name: string;
  readonly applied: ShownApplied | undefined;
  readonly changes: number;
  readonly canRun: boolean;
  readonly canReview: boolean;
  readonly onDiscard: () => void;
  readonly onRun: () => void;
  readonly onReview: () => void;
  readonly onChanged: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** The name of an automation, its state, and what can be done with it. */
export function AutomationHeading(properties: Properties) {
  const { name, applied, changes, canRun, canReview, onDiscard, onRun, onReview } = properties;
  const { factory, mayManage, managedHere } = useFactory();
  return (
    <>
      <Breadcrumb to={{ page: 'automations', factory }} label="Automations" />
      <PageHeading
        title={applied ? name : 'New automation'}
        aside={
          <>
            {applied && <Marks {...applied} />}
            {applied && changes > 0 && <span class="tag">{formatCount(changes, 'unsaved change')}</span>}
          </>
        }
        sub={applied && <About {...applied} />}
        actions={
          <>
            {mayManage && changes > 0 && <Button look="quiet" label="Discard" onClick={onDiscard} />}
            {mayManage && <Button label="Run with…" disabled={!canRun} onClick={onRun} />}
            {mayManage && (
              <button
                type="button"
                class="btn primary"
                disabled={!canReview}
                title={canReview ? 'Ctrl Enter' : 'Nothing is changed, or something is wrong'}
                onClick={onReview}
              >
                <span>
                  Review
                  <span class="no-phone">{applied || !managedHere ? ' changes' : ' and create'}</span>
                </span>
              </button>
            )}
            {applied && <AutomationMenu {...applied} hasChanges={changes > 0} {...properties} />}
          </>
        }
      />
    </>
  );
}

function Marks({ automation, pause }: ShownApplied) {
  if (!automation.enabled) return <State sign="disabled">Disabled</State>;
  return pause ? <State sign="held">Paused</State> : null;
}

function About({ automation: { name }, pause, runs }: ShownApplied) {
  const { factory } = useFactory();
  const { lastRun } = runs ?? {};
  return (
    <>
      {pause && (
        <span>
          Paused by <Text text={pause.by} /> since <ExactTime at={pause.at} />
          {pause.until !== null && (
            <>
              , until <ExactTime at={pause.until} due />
            </>
          )}
          . Runs are recorded, but none starts.
        </span>
      )}
      <span>
        {lastRun ? (
          <>
            Last run {lastRun.state} <Time at={lastRun.at} />
          </>
        ) : (
          'No run has ended in seven days'
        )}
      </span>
      <Link to={{ page: 'runs', factory, query: { automation: name } }} text="Runs" />
    </>
  );
}
