import type { ChangeView, PlanView } from '../../operations/views/plan-view.ts';
import { describeImpact } from '../../schema/changes/describe-impact.ts';
import type { FieldChange } from '../../schema/changes/field-change.ts';
import { showChange } from '../../schema/changes/show-change.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { renderCounts } from './colours.ts';
import { escapeMarkdown, escapeMarkdownCode, fenceDiff } from './markdown.ts';

/** @limit Most characters of a plan in Markdown: GitHub refuses a comment over 65,536, and a comment may have other text too. */
const planMarkdownCharsMax = 60_000;
/** @limit Most characters of a name in a plan in Markdown: a factory's name has at most 63. */
const planNameCharsMax = 80;
/** @limit Most characters of one sentence in a plan in Markdown: it may quote names that a sender chose. */
const planSentenceCharsMax = 500;

/** The plan as a comment on a pull request. A script can find the comment again by its first line. */
export function renderPlanMarkdown(
  { factory, serial, summary, changes }: PlanView,
  warnings: readonly Diagnostic[],
  nowMs: number,
): string {
  const changed = changes.filter(({ action }) => action !== 'no-op');
  const head = `hookmill plan: ${changed.length === 0 ? 'no changes' : renderCounts(summary)}`;
  const place = `Factory ${renderCode(factory)}, against serial ${serial} of its applied state.`;
  const parts = [
    { text: [renderMarker(factory), `### ${head}`, '', place].join('\n') },
    ...changed.map(change => renderChange(change, nowMs)),
    ...(warnings.length > 0 ? [{ text: '' }, ...toParts(warnings)] : []),
  ];
  return joinBounded(parts);
}

/** The comment instead of a plan if the definitions have errors. */
export function renderErrorsMarkdown(factory: string, diagnostics: readonly Diagnostic[]): string {
  const head = '### hookmill plan: the definitions cannot be applied';
  return joinBounded([{ text: `${renderMarker(factory)}\n${head}\n` }, ...toParts(diagnostics)]);
}

function renderMarker(factory: string): string {
  return `<!-- hookmill-plan ${factory} -->`;
}

const verbs = { create: 'Add', update: 'Change', delete: '**Destroy**', 'no-op': '' } as const;

/** A part of the comment. It is whole without its diff, which is left out if the comment has no room for it. */
interface Part {
  readonly text: string;
  readonly diff?: string;
}

function renderChange({ action, kind, name, fields, impact }: ChangeView, nowMs: number): Part {
  const sentences = (impact ? describeImpact(impact, nowMs) : []).map(
    sentence => `- ${escapeMarkdown(sentence, planSentenceCharsMax)}`,
  );
  const head = `\n#### ${verbs[action]} ${kind} ${renderCode(name)}`;
  const text = [head, ...(sentences.length > 0 ? ['', ...sentences] : [])].join('\n');
  return fields.length === 0 ? { text } : { text, diff: fenceDiff(fields.flatMap(renderField)) };
}

/** Lines of a diff: those that begin with + or - are coloured. */
function renderField(change: FieldChange): readonly string[] {
  const { mark, path, isInline, lines } = showChange(change);
  if (isInline) return lines.map(({ mark, text }) => `${mark} ${path}: ${text}`);
  if (mark !== '~') return [`${mark} ${path}:`, ...lines.map(({ mark, text }) => `${mark}   ${text}`)];
  return [`@@ ${path} @@`, ...lines.map(({ mark, text }) => `${mark} ${text}`)];
}

function toParts(diagnostics: readonly Diagnostic[]): Part[] {
  return diagnostics.map(diagnostic => ({ text: renderDiagnosticLine(diagnostic) }));
}

function renderDiagnosticLine({ severity, file, range, message, hint, code }: Diagnostic): string {
  const place = range ? `${file}:${range.start.line}` : file;
  const text = `${message}${hint ? `; ${hint}` : ''} [${code}]`;
  return `- ${severity} in ${escapeMarkdownCode(place, planSentenceCharsMax)}: ${escapeMarkdown(text, planSentenceCharsMax)}`;
}

function renderCode(text: string): string {
  return escapeMarkdownCode(text, planNameCharsMax);
}

/** Joins as many parts as a comment can hold, and then as many of their diffs as still fit. */
function joinBounded(parts: readonly Part[]): string {
  const kept: Part[] = [];
  let chars = 0;
  for (const part of parts) {
    chars += part.text.length + (part.diff === undefined ? 1 : omittedDiff.length);
    if (chars > planMarkdownCharsMax) break;
    kept.push(part);
  }
  const blocks = kept.flatMap(({ text, diff }) => {
    if (diff === undefined) return [text];
    chars += diff.length;
    if (chars <= planMarkdownCharsMax) return [text, diff];
    chars -= diff.length;
    return [text, omittedDiff];
  });
  const omitted = parts.length - kept.length;
  const end = omitted > 0 ? [`\n${omitted} more are omitted: run \`hookmill plan\` to see them all.`] : [];
  return `${[...blocks, ...end].join('\n')}\n`;
}

const omittedDiff = '\nThis change is too long for a comment: run `hookmill plan` to see it.';
