import { printable } from '../../schema/text/printable.ts';

/**
 * Escapes text of any origin so that Markdown shows exactly that text, cut after `charsMax` characters. Words of prose stay
 * as they are, and all others become code: GitHub and GitLab look for mentions, references and links in rendered text, but
 * not in code. A command of hookmill between backticks becomes one piece of code, without them.
 */
export function escapeMarkdown(text: string, charsMax: number): string {
  const parts = cut(printable(text), charsMax).split(/`(hookmill [^`]*)`/);
  return parts.map((part, index) => (index % 2 === 1 ? renderCode(part) : renderProse(part))).join('');
}

function renderProse(text: string): string {
  const words = text.split(' ');
  return words.map(word => (word === '' || prose.test(word) ? refer(word) : renderCode(word))).join(' ');
}

/** Escapes text and shows it as code. */
export function escapeMarkdownCode(text: string, charsMax: number): string {
  return renderCode(cut(printable(text), charsMax));
}

/** Uses `<code>`, because a `|` between backticks would still end a table cell. */
function renderCode(text: string): string {
  return `<code>${refer(text)}</code>`;
}

/**
 * Writes everything that could begin markup, a link or a cell as a character reference, which CommonMark never reads as
 * structure.
 */
function refer(text: string): string {
  return text.replace(active, character => `&#${character.codePointAt(0)};`);
}

// A word, a short number, or what follows a command. Seven hexadecimal digits may be a commit.
const prose = /^[,;:.)]+$|^\(?(?:(?![\da-f]{7})\p{L}[\p{L}'-]*[,;:.)…]*|\d{1,6}[,;:]?)$/u;
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
