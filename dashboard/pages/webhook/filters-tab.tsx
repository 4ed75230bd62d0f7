import { useState } from 'preact/hooks';
import type { ListedAutomation, ShownWebhook, StoredTest } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Cells, type ClauseRow, Clauses } from '../../parts/clauses.tsx';
import { Button, LinkButton } from '../../parts/controls.tsx';
import { Empty, Waiting } from '../../parts/lists.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { toChangeQuery } from '../../state/clause-change.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time.ts';
import { formatClockTime } from '../../text/format-time.ts';
import { formatCount } from '../../text/format-values.ts';

/** Deliveries by which each automation is tested: a line of cells. */
const testedDeliveries = 50;
/** Automations that are tested at once; further ones when somebody asks. */
const testedAutomations = 12;

type TestedClause = StoredTest['clauses'][number];

/** The automations that listen to a webhook, each tested on its last deliveries: which match, which nearly, and why. */
export function FiltersTab({ webhook, listeners }: Properties) {
  const { factory, mayManage } = useFactory();
  if (listeners.length > 0) return <TestedFilters webhook={webhook} listeners={listeners} />;
  return (
    <Empty title="No automation listens to this webhook">
      <p>Its deliveries are logged, and start no runs.</p>
      {mayManage && (
        <LinkButton
          label="Write an automation"
          to={{ page: 'new-automation', factory, query: { webhook: webhook.name } }}
        />
      )}
    </Empty>
  );
}

interface Properties {
  readonly webhook: ShownWebhook;
  readonly listeners: readonly ListedAutomation[];
}

function TestedFilters({ webhook: { uid, name }, listeners }: Properties) {
  const { factory } = useFactory();
  const [areAll, setAll] = useState(false);
  const meant = areAll ? listeners : listeners.slice(0, testedAutomations);
  const { value, error, reload } = useLoad(
    signal =>
      Promise.all(
        meant.map(automation => {
          const body = { automation: automation.name, webhook: uid, last: testedDeliveries };
          const path = '/factories/{factory}/automation-matches';
          return callApi('post', path, { factory, body, signal });
        }),
      ),
    [factory, uid, meant.map(automation => automation.name).join()],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the tests of the filters" />;
  const deliveries = value[0]?.deliveries.length ?? 0;
  const matching = value.filter(({ matches }) => matches > 0).length;
  return (
    <>
      <p class="t2">
        {deliveries === 0
          ? 'No accepted delivery is stored, so the filters cannot be tested.'
          : `${matching} of ${formatCount(meant.length, 'automation')} ${matching === 1 ? 'matches' : 'match'} what ${name} sends. ${describeNothing(value[0]?.startedNothing ?? 0, deliveries)}`}
      </p>
      <ul>
        {meant.map((automation, index) => {
          const tested = value[index];
          return (
            tested && (
              <TestedAutomation key={automation.name} uid={uid} automation={automation} tested={tested} />
            )
          );
        })}
      </ul>
      {meant.length < listeners.length && (
        <Button label={`Test the other ${listeners.length - meant.length}`} onClick={() => setAll(true)} />
      )}
    </>
  );
}

function describeNothing(nothing: number, deliveries: number): string {
  const last = `of the last ${formatCount(deliveries, 'delivery', 'deliveries')}`;
  if (nothing === 0) return `Each ${last} starts a run.`;
  return `${nothing} ${last} ${nothing === 1 ? 'starts' : 'start'} nothing.`;
}

interface TestedProperties {
  readonly uid: string;
  readonly automation: ListedAutomation;
  readonly tested: StoredTest;
}

function TestedAutomation({ uid, automation: { name, enabled, triggers }, tested }: TestedProperties) {
  const { factory } = useFactory();
  const { deliveries, matches } = tested;
  // Other triggers of the automation are for other webhooks.
  const clauses = tested.clauses.filter(({ trigger }) => triggers[trigger]?.uid === uid);
  const near = deliveries.filter(({ verdict }) => verdict === 'near').length;
  const counts = `${matches} match${near > 0 ? `, ${near} nearly` : ''}`;
  return (
    <li class="tested">
      <div class="flow wrap">
        <a class="name" href={toHref({ page: 'automation', factory, id: name })}>
          <bdi>{name}</bdi>
        </a>
        {!enabled && <span class="tag">disabled</span>}
        <span class="push t2">
          {enabled ? 'started' : 'would have started'} {matches} of the last {deliveries.length}
        </span>
      </div>
      {deliveries.length > 0 && (
        <Cells
          label={`The last ${formatCount(deliveries.length, 'delivery', 'deliveries')}: ${counts}`}
          cells={deliveries.map(({ id, at, verdict }) => ({
            id,
            verdict,
            href: toHref({ page: 'delivery', factory, id }),
            title: `${formatClockTime(at, timeZone.value)}: ${verdictWords[verdict]}`,
          }))}
        />
      )}
      {clauses.length === 0 ? (
        <p class="t3">No filter: every delivery matches.</p>
      ) : (
        <Clauses rows={clauses.map(toRow)} />
      )}
      {clauses.map((clause, index) => (
        <Suggestion key={index} automation={name} clause={clause} />
      ))}
    </li>
  );
}

const verdictWords = { match: 'matches', near: 'nearly matches', no: 'does not match' } as const;

function toRow({ path, operator, allowed, holds, judged, found, suggestion }: TestedClause): ClauseRow {
  const [most] = found;
  const never = holds === 0 && judged > 0;
  return {
    ...{ path, operator, allowed },
    verdict: suggestion ? 'near' : 'plain',
    found:
      never && most !== undefined ? (
        <span class={suggestion ? 'warn' : ''}>
          never holds: it is <Code text={most} />
        </span>
      ) : (
        `holds for ${holds}`
      ),
  };
}

/** The change that repairs the near misses of a clause, and a link to the editor with it. */
function Suggestion({ automation, clause }: { readonly automation: string; readonly clause: TestedClause }) {
  const { factory, mayManage } = useFactory();
  const { suggestion, trigger, kind, path, operator } = clause;
  if (!suggestion) return null;
  const query = toChangeQuery({ trigger, kind, path, operator, values: suggestion.values });
  return (
    <div class="flow wrap small t2">
      <span>
        Did you mean{' '}
        <code>
          <Text text={suggestion.allowed} />
        </code>
        ? It would have started {suggestion.matches}.
      </span>
      {mayManage && (
        <LinkButton
          look="small"
          label="Open with this change"
          to={{ page: 'automation', factory, id: automation, query }}
        />
      )}
    </div>
  );
}
