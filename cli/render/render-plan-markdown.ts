import type { Change, FieldChange } from '../../operations/plan.ts';
import type { ChangeView, PlanView } from '../../operations/views/plan-view.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { escapeMarkdown, escapeMarkdownCode } from './markdown.ts';
import { renderCounts } from './render-counts.ts';
import { renderImpact } from './render-impact.ts';

/** @limit Most characters of a plan in Markdown: GitHub refuses a comment over 65,536, and a comment may have other text too. */
const planMarkdownCharsMax = 60_000;
/** @limit Most characters of one value in a plan in Markdown: more does not fit in a cell of a table. */
const planValueCharsMax = 80;
/** @limit Most characters of one sentence in a plan in Markdown: it may quote names that a sender chose. */
const planSentenceCharsMax = 500;

/** The plan as a comment on a pull request. A script can find the comment again by its first line. */
export function renderPlanMarkdown(
  { factory, serial, summary, changes }: PlanView,
  warnings: readonly Diagnostic[],
  nowMs: number,
): string {
  const changed = changes.filter(({ action }) => action !== 'no-op');
  const rows = changed.map(change => renderRow(change, nowMs));
  const head = `hookmill plan: ${rows.length === 0 ? 'no changes' : renderCounts(summary)}`;
  const lines = [
    renderMarker(factory),
    `### ${head}`,
    '',
    `Factory ${renderCode(factory)}, against serial ${serial} of its applied state.`,
    ...(rows.length > 0 ? ['', '| | | fields | effect |', '| --- | --- | --- | --- |', ...rows] : []),
    ...(warnings.length > 0 ? ['', ...warnings.map(renderDiagnosticLine)] : []),
  ];
  return joinBounded(lines);
}

/** The comment instead of a plan if the definitions have errors. */
export function renderErrorsMarkdown(factory: string, diagnostics: readonly Diagnostic[]): string {
  const head = '### hookmill plan: the definitions cannot be applied';
  return joinBounded([renderMarker(factory), head, '', ...diagnostics.map(renderDiagnosticLine)]);
}

function renderMarker(factory: string): string {
  return `<!-- hookmill-plan ${factory} -->`;
}

const verbs = { create: 'add', update: 'change', delete: '**destroy**', 'no-op': '' } as const;

function renderRow(change: ChangeView, nowMs: number): string {
  const { action, kind, name, fields, impact } = change;
  const meaning = (impact ? renderImpact(impact, nowMs) : []).map(sentence =>
    escapeMarkdown(sentence, planSentenceCharsMax),
  );
  const cells = [
    verbs[action],
    `${kind} ${renderCode(name)}`,
    kind === 'webhook' ? fields.map(field => renderField(field, action)).join('<br>') : listFields(change),
    meaning.join('<br>'),
  ];
  return `| ${cells.join(' | ')} |`;
}

function renderField({ field, before, after }: FieldChange, action: Change['action']): string {
  const values = action === 'create' ? [after] : [before, after];
  return `${escapeMarkdown(field, planValueCharsMax)} ${values.map(renderValue).join(' → ')}`;
}

/** Names an automation's fields: they are long texts and trees, which the pull request's files show better. */
function listFields({ action, fields }: Change): string {
  return action === 'update' ? fields.map(({ field }) => field).join(', ') : '';
}

function renderValue(value: unknown): string {
  if (value === undefined) return '(none)';
  return renderCode(typeof value === 'string' ? value : JSON.stringify(value));
}

function renderDiagnosticLine({ severity, file, range, message, hint, code }: Diagnostic): string {
  const place = range ? `${file}:${range.start.line}` : file;
  const text = `${message}${hint ? `; ${hint}` : ''} [${code}]`;
  return `- ${severity} in ${escapeMarkdownCode(place, planSentenceCharsMax)}: ${escapeMarkdown(text, planSentenceCharsMax)}`;
}

function renderCode(text: string): string {
  return escapeMarkdownCode(text, planValueCharsMax);
}

/** Joins as many whole lines as a comment can hold. */
function joinBounded(lines: readonly string[]): string {
  let text = '';
  for (const [index, line] of lines.entries()) {
    if (text.length + line.length > planMarkdownCharsMax) {
      return `${text}\n${lines.length - index} more lines are omitted: run \`hookmill plan\` to see them all.\n`;
    }
    text += `${line}\n`;
  }
  return text;
}
