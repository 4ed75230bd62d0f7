import type { FilterTestView, TestedOnStored, VerdictView } from '../../operations/views/delivery-views.ts';
import type { TriggerVerdict } from '../../schema/definitions/judge-trigger.ts';
import {
  type ClauseOutcome,
  renderCondition,
  renderNote,
} from '../../schema/filters/payload-filter-explain.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { renderTable } from './render-table.ts';

/**
 * A verdict that answers "why did it not start?": each check, each clause of the filters, and what is suspicious about
 * them.
 */
export function renderVerdict(tested: VerdictView & Partial<FilterTestView>): string {
  const { automation, enabled, wouldTrigger, triggers, warnings = [] } = tested;
  const verdict = wouldTrigger ? colours.green('Would trigger') : colours.yellow('Would not trigger');
  const disabled = enabled ? [] : [`  ${cross} the automation is disabled`];
  const lines = triggers.flatMap((trigger, index) => [
    ...renderTrigger(trigger, index, triggers.length),
    ...warnings.filter(warning => warning.trigger === index).map(renderWarning),
  ]);
  return `${[`${printable(automation)}: ${verdict}`, ...disabled, ...lines].join('\n')}\n`;
}

/** The verdicts on stored deliveries, how often each clause holds, and what would repair near misses. */
export function renderTestedOnStored(name: string, tested: TestedOnStored): string {
  const { deliveries, clauses, warnings, matches, since } = tested;
  const verdict =
    since === null
      ? 'its webhooks have no accepted deliveries'
      : `of the last ${countOf(deliveries.length, 'delivery', 'deliveries')}, ${countOf(matches, 'matches', 'match')}; the oldest came ${since}`;
  const rows = deliveries.map(({ id, at, webhook, verdict, near }) => {
    const cause = near ? `${near.path}: ${near.note ?? 'the value is not shown'}` : '';
    return [at, webhook, verdict, cause, id];
  });
  const held = clauses.map(({ path, operator, allowed, holds, judged, found, suggestion }) => {
    const suggested = suggestion ? `${suggestion.allowed}: ${suggestion.matches} match` : '';
    const clause = renderCondition({ path, operator, allowed });
    return [clause, `${holds} of ${judged}`, found.join(', '), suggested];
  });
  return [
    `${printable(name)}: ${verdict}\n`,
    rows.length > 0 ? renderTable(['TIME', 'WEBHOOK', 'VERDICT', 'NEAR MISS', 'ID'], rows) : '',
    held.length > 0 ? renderTable(['CLAUSE', 'HOLDS', 'FAILS FOR', 'DID YOU MEAN'], held) : '',
    warnings.map(warning => `${renderWarning(warning)}\n`).join(''),
  ]
    .filter(text => text !== '')
    .join('\n');
}

function countOf(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

const tick = colours.green('✓');
const cross = colours.red('✗');

function renderTrigger(
  { webhookHolds, payloadHolds, clauses, headers }: TriggerVerdict,
  index: number,
  count: number,
): string[] {
  const heading = count > 1 ? [`  trigger ${index + 1}`] : [];
  const webhook = `  ${webhookHolds ? tick : cross} webhook: ${webhookHolds ? 'matches' : 'does not match (the trigger selects a different one)'}`;
  const headerLines = headers
    ? [`  ${headers.holds ? tick : cross} headers: ${headers.holds ? 'match' : 'do not match'}`]
    : [];
  const payload = `  ${payloadHolds ? tick : cross} payload: ${clauses.length === 0 ? 'no filter' : payloadHolds ? 'matches' : 'does not match'}`;
  return [
    ...[...heading, webhook, ...headerLines],
    ...(headers?.clauses ?? []).map(clause => renderClause(clause, describeHeader(clause))),
    payload,
    ...clauses.map(clause => renderClause(clause, describeField(clause))),
  ];
}

function renderWarning({ code, message, hint }: FilterTestView['warnings'][number]): string {
  return `  ${colours.yellow('!')} ${printable(message)} [${code}]\n      hint: ${printable(hint)}`;
}

function describeHeader({ found }: ClauseOutcome): string {
  return found === 'missing' ? 'header not sent, or not kept' : `header was ${printable(found)}`;
}

function describeField({ found }: ClauseOutcome): string {
  return found === 'missing' ? 'field missing from the payload' : `payload has ${printable(found)}`;
}

function renderClause(clause: ClauseOutcome, actual: string): string {
  const { path, operator, allowed, holds } = clause;
  const expected = printable(renderCondition({ path, operator, allowed }));
  return `      ${holds ? tick : cross} ${expected} ${colours.dim('·')} ${actual}${printable(renderNote(clause))}`;
}
