import { printable } from '../../schema/printable.ts';

/**
 * Escapes text of any origin so that Markdown shows exactly that text, cut after `charsMax` characters. Everything
 * that could begin markup, a link, a mention or a cell becomes a character reference, which CommonMark never reads as
 * structure.
 */
export function escapeMarkdown(text: string, charsMax: number): string {
  return cut(printable(text), charsMax).replace(active, character => `&#${character.codePointAt(0)};`);
}

/** Escapes text and shows it as code. Uses `<code>`, because a `|` between backticks would still end a table cell. */
export function escapeMarkdownCode(text: string, charsMax: number): string {
  return `<code>${escapeMarkdown(text, charsMax)}</code>`;
}

// A dot within a word could make a link.
const active = /[^\p{L}\p{N} ,;().'-]|\.(?=\S)/gu;

function cut(text: string, charsMax: number): string {
  const characters = [...text];
  return characters.length > charsMax ? `${characters.slice(0, charsMax - 1).join('')}…` : text;
}

/**
 * Renders lines as a fenced block of a diff, as GitHub and GitLab colour it. The fence is longer than any run of
 * backticks in the block, so no line ends it (CommonMark 4.5). In such a block nothing else is markup or a mention.
 */
export function fenceDiff(lines: readonly string[]): string {
  const text = lines.map(line => printable(line).trimEnd()).join('\n');
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...runs.map(run => run.length + 1)));
  return `\n${fence}diff\n${text}\n${fence}`;
}
