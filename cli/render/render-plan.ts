import type { Change, FieldChange, Summary } from '../../operations/plan.ts';
import type { ChangeView, PlanView } from '../../operations/views/plan-view.ts';
import { colours } from './colours.ts';
import { printable } from './printable.ts';
import { renderCounts } from './render-counts.ts';
import { renderImpact } from './render-impact.ts';
import { renderFields } from './render-table.ts';

const signs = { create: colours.green('+'), update: colours.yellow('~'), delete: colours.red('-') } as const;

interface AppliedPlan {
  readonly plan: PlanView;
  readonly webhooks: readonly { readonly name: string; readonly url: string }[];
  /** False if nothing was written. */
  readonly isApplied: boolean;
}

/** Renders the changes, each with its impact if that is known. Leaves out everything that stays the same. */
export function renderPlan(
  { changes, summary }: { readonly changes: readonly ChangeView[]; readonly summary: Summary },
  nowMs: number,
): string {
  const changed = changes.filter(change => change.action !== 'no-op');
  if (changed.length === 0) return 'No changes. The applied state matches the definitions.\n';
  const totals = `Plan: ${renderCounts(summary)}.`;
  const parts = changed.map(change => {
    const sentences = change.impact ? renderImpact(change.impact, nowMs) : [];
    return renderChange(change, sentences.length > 0) + renderSentences(sentences);
  });
  return `${parts.join('')}\n${colours.bold(totals)}\n`;
}

function renderChange({ action, kind, name, uid, fields }: Change, explained: boolean): string {
  if (action === 'no-op') return '';
  const warning = explained ? '' : 'its URL stops answering and never comes back ';
  const note = action === 'delete' && uid ? colours.red(`  ${warning}(${uid})`) : '';
  const lines = [`${signs[action]} ${kind} ${colours.bold(name)}${note}`];
  const width = Math.max(0, ...fields.map(({ field }) => field.length));
  lines.push(...fields.map(change => `    ${change.field.padEnd(width)}  ${renderField(change, action)}`));
  return `${lines.join('\n')}\n`;
}

function renderSentences(sentences: readonly string[]): string {
  return sentences.map(sentence => `    ${colours.dim('!')} ${printable(sentence)}\n`).join('');
}

function renderField({ before, after }: FieldChange, action: Change['action']): string {
  return action === 'create' ? renderValue(after) : `${renderValue(before)} → ${renderValue(after)}`;
}

function renderValue(value: unknown): string {
  if (value === undefined) return '(none)';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = printable(text.trimEnd());
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** What an apply changed, and the ingress URL of every webhook. */
export function renderApplied({ plan, webhooks, isApplied }: AppliedPlan, nowMs: number): string {
  const changes = renderPlan(plan, nowMs);
  if (!isApplied) return changes;
  const done = `Applied as serial ${plan.serial}.\n`;
  const urls = webhooks.map(({ name, url }) => [name, url] as const);
  return urls.length > 0 ? `${changes}\n${done}\n${renderFields(urls)}` : `${changes}\n${done}`;
}
