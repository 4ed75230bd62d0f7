import { printable } from './printable.ts';

/**
 * Text of any origin as markdown that renders as that text alone, cut after `charsMax` characters. Whatever could
 * begin markup, a link, a mention or a cell becomes a character reference, which CommonMark never reads as structure.
 */
export function markdownText(text: string, charsMax: number): string {
  return cut(printable(text), charsMax).replace(active, character => `&#${character.codePointAt(0)};`);
}

/** The same, set as code. An element rather than backticks, in which a table would still end its cell at a `|`. */
export function markdownCode(text: string, charsMax: number): string {
  return `<code>${markdownText(text, charsMax)}</code>`;
}

// A point within a word could make a link of it.
const active = /[^\p{L}\p{N} ,;().'-]|\.(?=\S)/gu;

function cut(text: string, charsMax: number): string {
  const characters = [...text];
  return characters.length > charsMax ? `${characters.slice(0, charsMax - 1).join('')}…` : text;
}
