import { useState } from 'preact/hooks';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { renderFlowValue } from '../../../schema/changes/block-lines.ts';
import { shortenRevision } from '../../../schema/clients/describe.ts';
import type { Clause } from '../../../schema/filters/clause.ts';
import { findNearMiss, repairClause } from '../../../schema/filters/near-miss.ts';
import { renderNote } from '../../../schema/filters/payload-filter-explain.ts';
import { readHeaderNumber, readPayloadNumber } from '../../../schema/filters/payload-filter-match.ts';
import type { ShownDelivery } from '../../api-answers.ts';
import { useFactory } from '../../state/current-factory.ts';
import { type ClauseRow, Clauses } from '../clauses.tsx';
import { Sec } from '../tables.tsx';
import { Code, Link, Text } from '../text.tsx';

type Evaluation = NonNullable<ShownDelivery['evaluation']>;
type Verdict = Evaluation['automations'][number];
type Trigger = Verdict['triggers'][number];
type ClauseOutcome = Trigger['clauses'][number];

/** From how many automations on those that are simply for something else are folded. */
const foldedMin = 2;

interface Properties {
  readonly evaluation: Evaluation;
  readonly commit: ShownDelivery['commit'];
}

/** Why a delivery started the runs that it did: the automations that matched, then near misses, then the others, folded. */
export function WhySection({ evaluation, commit }: Properties) {
  const [isOpen, setOpen] = useState(false);
  const judged = evaluation.automations.map(judge);
  const matched = judged.filter(({ verdict }) => verdict.wouldTrigger);
  const near = judged.filter(({ verdict, meant }) => !verdict.wouldTrigger && meant !== undefined);
  const others = judged.filter(({ verdict, meant }) => !verdict.wouldTrigger && meant === undefined);
  const isFolded = others.length >= foldedMin;
  const areForOtherEvents = others.every(({ trigger }) => trigger?.headers?.holds === false);
  return (
    <section aria-label="Why">
      <Sec title="Why">
        <span class="t3 small">
          judged by {commit ? <code>{shortenRevision(commit.revision)}</code> : `serial ${evaluation.serial}`}
        </span>
      </Sec>
      {[...matched, ...near, ...(isFolded && !isOpen ? [] : others)].map(each => (
        <Judged key={each.verdict.automation} {...each} />
      ))}
      {isFolded && (
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fold the ' : ''}
          {others.length} others {areForOtherEvents ? 'listen to other events' : 'did not match'}
        </button>
      )}
      {judged.length === 0 && (
        <p class="t3">
          No automation listened to the webhook
          {evaluation.others > 0 && `; ${evaluation.others} listened to other webhooks`}.
        </p>
      )}
    </section>
  );
}

interface JudgedProperties {
  readonly verdict: Verdict;
  /** The trigger that fired, or came nearest. */
  readonly trigger: Trigger | undefined;
  /** The one clause that failed by a value that was probably meant: the list to write instead, and how both differ. */
  readonly meant:
    | { readonly clause: ClauseOutcome; readonly value: string | undefined; readonly note: string }
    | undefined;
}

function judge(verdict: Verdict): JudgedProperties {
  const triggers = verdict.triggers.filter(({ webhookHolds }) => webhookHolds);
  const byFailures = triggers.toSorted((a, b) => failuresOf(a).length - failuresOf(b).length);
  const trigger = triggers.find(({ wouldTrigger }) => wouldTrigger) ?? byFailures[0];
  const [clause, ...others] = trigger ? failuresOf(trigger) : [];
  const isHeader = clause !== undefined && trigger?.headers?.clauses.includes(clause) === true;
  const near = clause && others.length === 0 ? findMeant(clause, isHeader) : undefined;
  return { verdict, trigger, meant: clause && near && { clause, ...near } };
}

function failuresOf({ headers, clauses }: Trigger): readonly ClauseOutcome[] {
  return [...(headers?.clauses ?? []), ...clauses].filter(
    ({ holds, operator }) => !holds && operator !== 'any_element',
  );
}

/** Finds the value that a clause was meant for. The texts of a clause are JSON, unless they were cut. */
function findMeant({ operator, allowed, found, note }: ClauseOutcome, isHeader: boolean) {
  const [values, value] = [parseText(allowed), parseText(found)];
  const known = note === undefined ? undefined : { value: undefined, note };
  if (!values || !value || (operator !== 'in' && operator !== '$like')) return known;
  const clause = { operator, values: values.value } as Clause;
  const near = findNearMiss({
    clause,
    found: value.value,
    readNumber: isHeader ? readHeaderNumber : readPayloadNumber,
  });
  if (!near) return known;
  const repaired = near.repair && repairClause(clause, near.repair, false);
  return {
    value: repaired && 'values' in repaired ? renderFlowValue(repaired.values) : undefined,
    note: near.note,
  };
}

function parseText(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJsonText(text) };
  } catch {
    return undefined;
  }
}

function Judged({ verdict, trigger, meant }: JudgedProperties) {
  const { factory } = useFactory();
  const { automation, enabled, wouldTrigger, triggers } = verdict;
  const clauses = trigger ? [...(trigger.headers?.clauses ?? []), ...trigger.clauses] : [];
  return (
    <>
      <div class="judged">
        <b>
          <Link to={{ page: 'automation', factory, id: automation }} text={automation} />
        </b>
        <span class={wouldTrigger ? 't2' : meant ? 'warn' : 't3'}>
          {wouldTrigger ? 'matched' : enabled ? (meant ? 'nearly matched' : 'did not match') : 'disabled'}
        </span>
        {triggers.length > 1 && <span class="t3">· the nearest of {triggers.length} triggers</span>}
      </div>
      {clauses.length > 0 ? (
        <Clauses rows={clauses.map(clause => toRow(clause, meant))} />
      ) : (
        <p class="t3">No filter: every delivery to the webhook matches.</p>
      )}
    </>
  );
}

function toRow(clause: ClauseOutcome, meant: JudgedProperties['meant']): ClauseRow {
  const { path, operator, holds } = clause;
  const isMeant = meant?.clause === clause;
  return {
    path,
    operator,
    allowed: tidy(clause.allowed),
    verdict: holds ? 'holds' : isMeant ? 'near' : 'fails',
    found: (
      <>
        {clause.found === 'missing' || /^any_|^\$none/.test(operator) ? '' : 'is '}
        <Code text={tidy(clause.found)} />
        {isMeant && meant.value !== undefined ? (
          <>
            , did you mean <Code text={meant.value} />?
          </>
        ) : (
          <Text text={renderNote(isMeant ? meant : clause)} />
        )}
      </>
    ),
  };
}

/** Writes JSON as definition files have it: `[opened, reopened]`. */
function tidy(text: string): string {
  const parsed = parseText(text);
  return parsed ? renderFlowValue(parsed.value) : text;
}
