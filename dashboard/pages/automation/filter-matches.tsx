import type { StoredTest } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Cells } from '../../parts/clauses.tsx';
import { Button } from '../../parts/controls.tsx';
import { Waiting } from '../../parts/lists.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { ClockTime, Code, Link, Text } from '../../parts/text.tsx';
import type { AutomationBody } from '../../state/automation-draft.ts';
import { toDefinitionEdit } from '../../state/clause-change.ts';
import { useFactory } from '../../state/current-factory.ts';
import { type Loading, useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { useSettled } from '../../state/time.ts';
import type { YamlPath } from '../../state/yaml-text.ts';
import { formatCount } from '../../text/format-values.ts';

type Delivery = StoredTest['deliveries'][number];

/** Time from the last keystroke to the test, in ms. */
const pauseMs = 400;
/** Most rows below the cells, of deliveries that match and of those that nearly do. */
const rowsMax = { match: 5, near: 3 } as const;

interface Properties {
  readonly tested: Loading<StoredTest | undefined>;
  /** Whether the text is valid as it is now. */
  readonly isCurrent: boolean;
  readonly isReadOnly: boolean;
  readonly onEdit: (path: YamlPath, value: unknown) => void;
}

/** Tests triggers on the last deliveries, again after each pause in typing. */
export function useFilterMatches(triggers: AutomationBody['triggers'] | undefined) {
  const { factory } = useFactory();
  const request = useSettled(JSON.stringify(triggers), pauseMs);
  return useLoad(
    async signal => {
      const path = '/factories/{factory}/automation-matches';
      return triggers && callApi('post', path, { factory, body: { triggers }, signal });
    },
    [factory, request],
  );
}

/** Which of the last deliveries the triggers of the last valid text would have started a run for. */
export function FilterMatches({
  tested: { value, error, reload },
  isCurrent,
  isReadOnly,
  onEdit,
}: Properties) {
  if (!value)
    return (
      <section aria-label="Test">
        <h2>Would it have started?</h2>
        <Waiting error={error} reload={reload} what="the last deliveries" />
      </section>
    );
  return (
    <section aria-label="Test">
      <MatchesHeading tested={value} />
      <ProblemNotice error={error} retry={reload} />
      {!isCurrent && <p class="hint">Tested as it was before the mistake.</p>}
      <TestedDeliveries tested={value} />
      {!isReadOnly && <Repairs clauses={value.clauses} onEdit={onEdit} />}
      {value.warnings
        .filter(({ code }) => code.endsWith('-not-sent'))
        .map(({ message, hint }) => (
          <p key={message} class="flow said warn">
            <Sign name="warning" label="warning" />
            <span>
              <Text text={message} />: <Text text={hint} />
            </span>
          </p>
        ))}
    </section>
  );
}

interface TestedProperties {
  readonly tested: StoredTest;
}

function MatchesHeading({ tested: { deliveries, matches, since } }: TestedProperties) {
  const webhooks = [...new Set(deliveries.map(({ webhook }) => webhook))];
  return (
    <div class="sec">
      <h2 aria-live="polite">
        {deliveries.length === 0
          ? 'No delivery to test it on yet'
          : `Would have started ${matches} of the last ${deliveries.length}`}
      </h2>
      {since !== null && (
        <span class="push t3 small">
          <span>
            <Text text={webhooks.join(', ')} />, since <ClockTime at={since} />
          </span>
        </span>
      )}
    </div>
  );
}

/** A cell for each delivery, and a row for those that match or nearly do. */
function TestedDeliveries({ tested: { deliveries, matches } }: TestedProperties) {
  const matching = deliveries.filter(({ verdict }) => verdict === 'match');
  const near = deliveries.filter(({ verdict }) => verdict === 'near');
  if (deliveries.length === 0) return null;
  return (
    <>
      <DeliveryCells deliveries={deliveries} matches={matches} near={near.length} />
      <ul class="started-rows">
        {[...matching.slice(0, rowsMax.match), ...near.slice(0, rowsMax.near)].map(delivery => (
          <TestedRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
    </>
  );
}

interface CellsProperties {
  readonly deliveries: readonly Delivery[];
  readonly matches: number;
  readonly near: number;
}

const verdictWords = { match: 'matches', near: 'nearly matches', no: 'does not match' } as const;

function DeliveryCells({ deliveries, matches, near }: CellsProperties) {
  const { factory } = useFactory();
  const label = `${formatCount(deliveries.length, 'delivery', 'deliveries')}, newest first: ${matches} match, ${near} nearly`;
  return (
    <Cells
      label={label}
      cells={deliveries.map(({ id, verdict, title, text }) => ({
        ...{ id, verdict, href: toHref({ page: 'delivery', factory, id }) },
        title: `${[title, text].filter(Boolean).join(' · ')}: ${verdictWords[verdict]}`,
      }))}
    />
  );
}

function TestedRow({ delivery: { id, at, title, text, near } }: { readonly delivery: Delivery }) {
  const { factory } = useFactory();
  return (
    <li class="flow">
      <Sign name={near ? 'warning' : 'done'} label={near ? verdictWords.near : verdictWords.match} />
      <Link class="med" to={{ page: 'delivery', factory, id }} text={title} />
      {near ? (
        <span class="warn cut">
          nearly: <Code text={near.path} /> is {near.found === null ? 'another' : <Code text={near.found} />}
          {near.note !== undefined && (
            <>
              , <Text text={near.note} />
            </>
          )}
        </span>
      ) : (
        <Text class="t2 cut" text={text ?? ''} />
      )}
      <span class="push t3 small">
        <ClockTime at={at} />
      </span>
    </li>
  );
}

interface RepairsProperties {
  readonly clauses: StoredTest['clauses'];
  readonly onEdit: Properties['onEdit'];
}

/** Offers the changes of lists by which near misses would match. */
function Repairs({ clauses, onEdit }: RepairsProperties) {
  return (
    <>
      {clauses.map(({ trigger, kind, path, operator, allowed, suggestion }) => {
        const { values = [] } = suggestion ?? {};
        const edit = toDefinitionEdit({ trigger, kind, path, operator, values });
        if (!suggestion || !edit) return null;
        return (
          <p key={`${trigger} ${path}`} class="flow said">
            <span>
              <Code text={path} /> is <Code text={allowed} />. With <Code text={suggestion.allowed} />,{' '}
              {suggestion.matches} would have started.
            </span>
            <Button look="small push" label="Write it" onClick={() => onEdit(edit.path, edit.value)} />
          </p>
        );
      })}
    </>
  );
}
