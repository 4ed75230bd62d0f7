import type { Change, FieldChange, Summary } from '../../operations/plan.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { markdownCode, markdownText } from './markdown.ts';

/** @limit Most characters of a plan in Markdown: GitHub refuses a comment over 65,536, and other text may stand beside it. */
const planMarkdownCharsMax = 60_000;
/** @limit Most characters of one value in a plan in Markdown: what a cell of a table can show. */
const planValueCharsMax = 80;
/** @limit Most characters of one sentence in a plan in Markdown: it may quote names that a sender chose. */
const planSentenceCharsMax = 500;

/** A change with what it means for senders and runs, in sentences. */
export interface ExplainedChange {
  readonly change: Change;
  readonly sentences: readonly string[];
}

/** The plan as a comment on a pull request. Its first line tells the comment from others, to replace it later. */
export function planMarkdown(
  factory: string,
  serial: number,
  summary: Summary,
  explained: readonly ExplainedChange[],
  warnings: readonly Diagnostic[],
): string {
  const { add, change, destroy } = summary;
  const rows = explained.filter(({ change }) => change.action !== 'no-op').map(row);
  const head =
    rows.length === 0
      ? 'hookmill plan: no changes'
      : `hookmill plan: ${add} to add, ${change} to change, ${destroy} to destroy`;
  const lines = [
    marker(factory),
    `### ${head}`,
    '',
    `Factory ${code(factory)}, against serial ${serial} of its applied state.`,
    ...(rows.length > 0 ? ['', '| | | fields | what it does |', '| --- | --- | --- | --- |', ...rows] : []),
    ...(warnings.length > 0 ? ['', ...warnings.map(diagnosticLine)] : []),
  ];
  return bounded(lines);
}

/** The comment in place of a plan where the definitions have errors. */
export function refusalMarkdown(factory: string, diagnostics: readonly Diagnostic[]): string {
  const head = '### hookmill plan: the definitions cannot be applied';
  return bounded([marker(factory), head, '', ...diagnostics.map(diagnosticLine)]);
}

function marker(factory: string): string {
  return `<!-- hookmill-plan ${factory} -->`;
}

const verbs = { create: 'add', update: 'change', delete: '**destroy**', 'no-op': '' } as const;

function row({ change, sentences }: ExplainedChange): string {
  const { action, kind, name, fields } = change;
  const meaning = sentences.map(sentence => markdownText(sentence, planSentenceCharsMax));
  const cells = [
    verbs[action],
    `${kind} ${code(name)}`,
    kind === 'webhook' ? fields.map(field => fieldCell(field, action)).join('<br>') : fieldNames(change),
    meaning.join('<br>'),
  ];
  return `| ${cells.join(' | ')} |`;
}

function fieldCell({ field, before, after }: FieldChange, action: Change['action']): string {
  const values = action === 'create' ? [after] : [before, after];
  return `${markdownText(field, planValueCharsMax)} ${values.map(valueCode).join(' → ')}`;
}

/** An automation's fields are whole texts and trees: the files of the pull request show them better. */
function fieldNames({ action, fields }: Change): string {
  return action === 'update' ? fields.map(({ field }) => field).join(', ') : '';
}

function valueCode(value: unknown): string {
  if (value === undefined) return '(none)';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function diagnosticLine({ severity, file, range, message, hint, code }: Diagnostic): string {
  const place = range ? `${file}:${range.start.line}` : file;
  const text = `${message}${hint ? `; ${hint}` : ''} [${code}]`;
  return `- ${severity} in ${markdownCode(place, planSentenceCharsMax)}: ${markdownText(text, planSentenceCharsMax)}`;
}

function code(text: string): string {
  return markdownCode(text, planValueCharsMax);
}

/** As many whole lines as a comment can hold. */
function bounded(lines: readonly string[]): string {
  let text = '';
  for (const [index, line] of lines.entries()) {
    if (text.length + line.length > planMarkdownCharsMax) {
      return `${text}\n${lines.length - index} more lines are left out: \`hookmill plan\` prints them all.\n`;
    }
    text += `${line}\n`;
  }
  return text;
}
