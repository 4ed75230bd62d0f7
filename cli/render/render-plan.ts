import type { Summary } from '../../operations/plan/plan.ts';
import type { ChangeView, PlanView } from '../../operations/views/plan-view.ts';
import { describeImpact, urlGone } from '../../schema/changes/describe-impact.ts';
import type { FieldChange } from '../../schema/changes/plan-shapes.ts';
import { type DiffLine, showChange } from '../../schema/changes/show-change.ts';
import type { Diagnostic, DiagnosticCode } from '../../schema/diagnostics.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours, renderCounts } from './colours.ts';
import { completeCommands } from './own-commands.ts';
import { renderFields } from './render-table.ts';

const signs = { create: colours.green('+'), update: colours.yellow('~'), delete: colours.red('-') } as const;
const marks = { '+': colours.green('+'), '~': colours.yellow('~'), '-': colours.red('-') } as const;

interface AppliedPlan {
  readonly plan: PlanView;
  readonly webhooks: readonly { readonly name: string; readonly url: string }[];
  /** False if nothing was written. */
  readonly isApplied: boolean;
}

const refusals: readonly DiagnosticCode[] = [
  'webhook/renamed',
  'secret/shared-by-schemes',
  'factory/no-definitions',
  'factory/rewound',
];

/** Finds out whether a plan is only for people to read: if definitions have errors, or if their merge would be refused. */
export function judgePlan(
  { base }: Pick<PlanView, 'base'>,
  diagnostics: readonly Diagnostic[],
): 'applicable' | 'refused' | 'incomplete' {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return 'applicable';
  return base && errors.every(({ code }) => refusals.includes(code)) ? 'refused' : 'incomplete';
}

export const planVerdicts = {
  refused: 'a merge of this would be refused',
  incomplete: 'the definitions cannot be applied',
} as const;

/**
 * Renders the changes, each with its impact if that is known. Leaves out everything that stays the same. An incomplete
 * plan lacks the definitions that have errors.
 */
export function renderPlan(
  { changes, summary }: { readonly changes: readonly ChangeView[]; readonly summary: Summary },
  nowMs: number,
  isIncomplete = false,
): string {
  const changed = changes.filter(change => change.action !== 'no-op');
  if (changed.length === 0) {
    return isIncomplete
      ? 'No changes by the definitions without errors.\n'
      : 'No changes. The applied state matches the definitions.\n';
  }
  const totals = `Plan${isIncomplete ? ' of the definitions without errors' : ''}: ${renderCounts(summary)}.`;
  const parts = changed.map(change => {
    const sentences = change.impact ? describeImpact(change.impact, nowMs) : [];
    const tasks = (change.atProvider ?? []).map(task => completeCommands(task));
    const reasons = change.notRestored === undefined ? [] : [change.notRestored];
    return renderChange(change, sentences.length > 0) + renderSentences([...reasons, ...sentences, ...tasks]);
  });
  return `${parts.join('')}\n${colours.bold(totals)}\n`;
}

function renderChange({ action, kind, name, uid, fields, restored }: ChangeView, explained: boolean): string {
  if (action === 'no-op') return '';
  const warning = explained ? '' : `its ${urlGone} `;
  const gone = action === 'delete' && uid ? colours.red(`  ${warning}(${uid})`) : '';
  const note = restored ? ' (restored: its URL is the former one)' : gone;
  const lines = [`${signs[action]} ${kind} ${colours.bold(name)}${note}`, ...fields.flatMap(renderField)];
  return `${lines.join('\n')}\n`;
}

function renderSentences(sentences: readonly string[]): string {
  return sentences.map(sentence => `    ${colours.dim('!')} ${printable(sentence)}\n`).join('');
}

function renderField(change: FieldChange): readonly string[] {
  const { mark, path, isInline, lines } = showChange(change);
  const head = `    ${marks[mark]} ${printable(path)}:`;
  if (!isInline) return [head, ...lines.map(line => `      ${renderLine(line)}`)];
  return [`${head} ${lines.map(({ mark, text }) => paint(mark, printable(text))).join(' → ')}`];
}

function renderLine({ mark, text }: DiffLine): string {
  return paint(mark, `${mark} ${printable(text)}`.trimEnd());
}

function paint(mark: DiffLine['mark'], text: string): string {
  if (mark === ' ') return text;
  return mark === '+' ? colours.green(text) : colours.red(text);
}

/** Renders the changes that an apply made, and the ingress URL of every webhook. */
export function renderApplied({ plan, webhooks, isApplied }: AppliedPlan, nowMs: number): string {
  const changes = renderPlan(plan, nowMs);
  if (!isApplied) return changes;
  const done = `Applied as serial ${plan.serial}.\n`;
  const urls = webhooks.map(({ name, url }) => [name, url] as const);
  return urls.length > 0 ? `${changes}\n${done}\n${renderFields(urls)}` : `${changes}\n${done}`;
}
