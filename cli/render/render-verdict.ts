import type { FilterTestView, VerdictView } from '../../operations/views/delivery-views.ts';
import type { TriggerVerdict } from '../../schema/definitions/judge-trigger.ts';
import { type ClauseOutcome, renderNote } from '../../schema/filters/payload-filter-explain.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';

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
  const expected = printable(`${path} ${operator.replace('_', ' ')} ${allowed}`);
  return `      ${holds ? tick : cross} ${expected} ${colours.dim('·')} ${actual}${printable(renderNote(clause))}`;
}
