import type { AutomationVerdict } from '../../schema/filters/judge-automation.ts';
import type { TriggerVerdict } from '../../schema/filters/judge-trigger.ts';
import type { ClauseOutcome } from '../../schema/filters/payload-filter-explain.ts';
import { colours } from './colours.ts';
import { printable } from './printable.ts';

/** A verdict as whoever asks "why did it not fire?" reads it: each check, and each clause of the payload filter. */
export function renderVerdict({ automation, enabled, wouldTrigger, triggers }: AutomationVerdict): string {
  const verdict = wouldTrigger ? colours.green('Would trigger') : colours.yellow('Would not trigger');
  const disabled = enabled ? [] : [`  ${cross} the automation is disabled`];
  const lines = triggers.flatMap((trigger, index) => renderTrigger(trigger, index, triggers.length));
  return `${[`${printable(automation)}: ${verdict}`, ...disabled, ...lines].join('\n')}\n`;
}

const tick = colours.green('✓');
const cross = colours.red('✗');

function renderTrigger(
  { webhookHolds, payloadHolds, clauses }: TriggerVerdict,
  index: number,
  count: number,
): string[] {
  const heading = count > 1 ? [`  trigger ${index + 1}`] : [];
  const webhook = `  ${webhookHolds ? tick : cross} webhook: ${webhookHolds ? 'the one selected' : 'another one than selected'}`;
  const payload = `  ${payloadHolds ? tick : cross} payload: ${clauses.length === 0 ? 'no filter' : payloadHolds ? 'matches' : 'does not match'}`;
  return [...heading, webhook, payload, ...clauses.map(renderClause)];
}

function renderClause({ path, operator, allowed, found, holds }: ClauseOutcome): string {
  return `      ${holds ? tick : cross} ${printable(`${path} ${operator.replace('_', ' ')} ${allowed}`)} ${colours.dim('·')} payload has ${printable(found)}`;
}
