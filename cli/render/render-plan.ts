import { type Change, type FieldChange, type Summary, summarize } from '../../operations/plan.ts';
import { colours } from './colours.ts';
import { printable } from './printable.ts';
import { fieldList } from './table.ts';

const signs = { create: colours.green('+'), update: colours.yellow('~'), delete: colours.red('-') } as const;

/** The changes as a person reads them, with sentences about some; what stays as it is does not show. */
export function renderPlan(
  changes: readonly Change[],
  summary: Summary,
  sentences: (change: Change) => readonly string[] = () => [],
): string {
  const changed = changes.filter(change => change.action !== 'no-op');
  if (changed.length === 0) return 'No changes. The applied state matches the definitions.\n';
  const { add, change, destroy } = summary;
  const totals = `Plan: ${add} to add, ${change} to change, ${destroy} to destroy.`;
  const parts = changed.map(change => {
    const said = sentences(change);
    return renderChange(change, said.length > 0) + renderSentences(said);
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

/** What an apply did, and where every webhook's senders post. */
export function renderAppliedPlan(
  changes: readonly Change[],
  serial: number,
  webhooks: readonly { readonly name: string; readonly url: string }[],
  applied: boolean,
): string {
  const plan = renderPlan(changes, summarize(changes));
  if (!applied) return plan;
  const done = `Applied as serial ${serial}.\n`;
  const urls = webhooks.map(({ name, url }) => [name, url] as const);
  return urls.length > 0 ? `${plan}\n${done}\n${fieldList(urls)}` : `${plan}\n${done}`;
}
