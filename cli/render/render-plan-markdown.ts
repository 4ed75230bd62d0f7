import type { ChangeView, PlanView } from '../../operations/views/plan-view.ts';
import {
  describeEffects,
  describeExamples,
  impactTrafficDays,
  renderAge,
  summarizeImpacts,
} from '../../schema/changes/describe-impact.ts';
import type { FieldChange } from '../../schema/changes/plan-shapes.ts';
import { showChange } from '../../schema/changes/show-change.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { renderCounts } from './colours.ts';
import { escapeMarkdown, escapeMarkdownCode, fenceDiff } from './markdown.ts';
import { judgePlan, planVerdicts } from './render-plan.ts';

/** @limit Most characters of a plan in Markdown: GitHub refuses a comment over 65,536, and a comment may have other text too. */
const planMarkdownCharsMax = 60_000;
/** @limit Most characters of a name in a plan in Markdown: a factory's name has at most 63. */
const planNameCharsMax = 80;
/** @limit Most characters of one sentence in a plan in Markdown: it may quote names that a sender chose. */
const planSentenceCharsMax = 500;

/**
 * The plan as a comment on a pull request: first in one line what senders and runs lose, then a table, then each change.
 * A script finds the comment again by its first line, which names the factory and the directory in the repository.
 */
export function renderPlanMarkdown(
  plan: PlanView,
  diagnostics: readonly Diagnostic[],
  nowMs: number,
  directory: string,
): string {
  const rows = toRows(plan.changes);
  const [errors, warnings] = ['error', 'warning'].map(severity =>
    diagnostics.filter(one => one.severity === severity),
  );
  return joinBounded([
    { text: renderHead(plan, rows, judgePlan(plan, diagnostics), directory) },
    ...renderFindings('Errors', errors),
    ...renderTable(rows, nowMs),
    ...renderFindings('Warnings', warnings),
    ...rows.map(renderChange),
  ]);
}

function renderHead(
  { factory, serial, base, mergedWith, changes, summary }: PlanView,
  rows: readonly Row[],
  verdict: ReturnType<typeof judgePlan>,
  directory: string,
): string {
  const losses = summarizeImpacts(changes);
  const counts = rows.length === 0 ? 'no changes' : renderCounts(summary);
  const against = base
    ? `commit ${renderCode(shortenRevision(base.revision))}, which is applied`
    : `serial ${serial} of its applied state`;
  const merged =
    base && mergedWith && mergedWith !== base.revision
      ? `, merged with commit ${renderCode(shortenRevision(mergedWith))} of ${renderCode(base.branch)}`
      : '';
  const scope = verdict === 'incomplete' ? ', without the definitions that have errors' : '';
  return [
    `<!-- hookmill-plan ${factory} ${encodeURI(directory.toWellFormed())} -->`,
    `### hookmill plan: ${verdict === 'applicable' ? losses || counts : planVerdicts[verdict]}`,
    ...(verdict !== 'applicable' && losses ? ['', `**${losses}.**`] : []),
    '',
    `Factory ${renderCode(factory)}, against ${against}${merged}${scope}: ${counts}.`,
  ].join('\n');
}

/** A change as a reviewer sees it: a renamed webhook is one row, although it is destroyed and created, and counted as both. */
interface Row extends Omit<ChangeView, 'action'> {
  readonly action: 'create' | 'update' | 'delete' | 'rename';
}

/** Everything that changes; what is lost comes first. */
function toRows(changes: readonly ChangeView[]): Row[] {
  const rows = changes.flatMap(({ action, ...change }): Row[] => {
    if (action === 'no-op' || change.renamedFrom !== undefined) return [];
    if (change.renamedTo === undefined) return [{ action, ...change }];
    const created = changes.find(({ renamedFrom }) => renamedFrom === change.name);
    const { impact } = change;
    const moved = impact?.kind === 'webhook' && { impact: { ...impact, effects: ['url-changed' as const] } };
    const atProvider = [...(change.atProvider ?? []), ...(created?.atProvider ?? [])];
    return [{ ...change, ...moved, atProvider, action: 'rename', fields: created?.fields ?? [] }];
  });
  return rows.sort((a, b) => rank(a) - rank(b));
}

function rank({ action, impact }: Row): number {
  const isFelt = impact?.kind === 'webhook' && impact.effects.some(effect => effect !== 'enabled');
  return { delete: 0, rename: 1, update: isFelt ? 2 : 3, create: 4 }[action];
}

const verbs = { create: 'Add', update: 'Change', delete: '**Destroy**', rename: '**Rename**' } as const;

function renderTable(rows: readonly Row[], nowMs: number): Part[] {
  if (rows.length === 0) return [];
  const head = ['Action', 'Object', 'Effect', 'Last delivery', `${impactTrafficDays} days`];
  const lines = rows.map(row => {
    const effects = [...listEffects(row), ...(row.atProvider ?? [])].map(sentence =>
      escapeMarkdown(sentence, planSentenceCharsMax),
    );
    return [verbs[row.action], nameObject(row), effects.join('<br>'), ...renderTraffic(row, nowMs)];
  });
  return [
    { text: `\n${renderLine(head)}\n${renderLine(['---', '---', '---', '---', '---:'])}` },
    ...lines.map(cells => ({ text: renderLine(cells) })),
  ];
}

function renderLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function nameObject({ kind, name, renamedTo }: Row): string {
  return `${kind} ${renderCode(name)}${renamedTo === undefined ? '' : ` → ${renderCode(renamedTo)}`}`;
}

/** Describes the effect of a change. As far as that is not known, names the parts of the definition that change. */
function listEffects({
  action,
  kind,
  fields,
  impact,
  confirmation,
  restored,
  notRestored,
}: Row): readonly string[] {
  if (restored) return ['is restored with its former URL', ...(impact ? describeEffects(impact) : [])];
  const changes = `changes ${[...new Set(fields.map(({ field }) => field))].join(', ')}`;
  if (impact?.kind === 'automation' && impact.kept && impact.judged === 0)
    return [changes, ...describeEffects(impact)];
  if (impact) return describeEffects(impact);
  if (action === 'update') return [changes];
  if (action === 'create' && kind === 'webhook')
    return ['gets a URL, which its sender needs', ...(notRestored === undefined ? [] : [notRestored])];
  if (action === 'create') return ['is new'];
  return confirmation ? [confirmation.message] : [];
}

function renderTraffic({ impact }: Row, nowMs: number): [last: string, count: string] {
  if (impact?.kind !== 'webhook') return ['', ''];
  const { lastAcceptedAt, accepted } = impact.traffic;
  return [lastAcceptedAt === null ? 'none in the log' : renderAge(lastAcceptedAt, nowMs), String(accepted)];
}

/** A part of the comment. It is whole without its diff, which is left out if the comment has no room for it. */
interface Part {
  readonly text: string;
  readonly diff?: string;
}

function renderChange(row: Row): Part {
  const { action, kind, name, renamedTo, fields, impact } = row;
  const examples = impact?.kind === 'automation' ? describeExamples(impact) : [];
  const items = examples.map(sentence => `\n- ${escapeMarkdown(sentence, planSentenceCharsMax)}`);
  // A webhook or automation that goes is as red as one that comes is green.
  const removed = action === 'delete' || action === 'rename' ? [`- ${kind} ${name}`] : [];
  const added = renamedTo === undefined ? [] : [`+ ${kind} ${renamedTo}`];
  const lines = [...removed, ...added, ...fields.flatMap(renderField)];
  return {
    text: [`\n#### ${verbs[action]} ${nameObject(row)}`, ...items].join('\n'),
    diff: fenceDiff(lines),
  };
}

/** Lines of a diff: those that begin with + or - are coloured. */
function renderField(change: FieldChange): readonly string[] {
  const { mark, path, isInline, lines } = showChange(change);
  if (isInline) return lines.map(({ mark, text }) => `${mark} ${path}: ${text}`);
  if (mark !== '~') return [`${mark} ${path}:`, ...lines.map(({ mark, text }) => `${mark}   ${text}`)];
  return [`@@ ${path} @@`, ...lines.map(({ mark, text }) => `${mark} ${text}`)];
}

/** Diagnostics under a heading of their own, so that no list before them takes them in. */
function renderFindings(heading: string, diagnostics: readonly Diagnostic[] = []): Part[] {
  if (diagnostics.length === 0) return [];
  return [{ text: `\n#### ${heading}\n` }, ...diagnostics.map(one => ({ text: renderFinding(one) }))];
}

function renderFinding({ file, range, message, hint, code }: Diagnostic): string {
  const place = range ? `${file}:${range.start.line}` : file;
  const text = `${message}${hint ? `; ${hint}` : ''} [${code}]`;
  return `- ${escapeMarkdownCode(place, planSentenceCharsMax)}: ${escapeMarkdown(text, planSentenceCharsMax)}`;
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
