// C0, DEL and C1 control characters, and those that change the direction of text: a terminal would obey them. Zero-width
// characters, separators of lines, and tags (U+E0000 to U+E0FFF): a reader would not see them, but a run's agent would. A
// joiner (U+200D) shows within an emoji.
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are replaced
  /[\0-\x1f\x7f-\x9f\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

/** Escapes control characters, so that text from files, git or senders is safe on a terminal. */
export function printable(text: string): string {
  return text.replace(unprintable, character => {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Makes one line of a text, without the characters that `printable` escapes. */
export function toPlainLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replace(unprintable, '').trim();
}

// The sequences of colours.ts. Others, which could hide or move text, are escaped.
const colourOrUnprintable = new RegExp(
  `\\x1b\\[(?:1|2|22|3[1236]|39)m|(?!\n)(?:${unprintable.source})`,
  'gu',
);
// Commands in the log of a CI job: ##[…] and ##vso[…] (Azure, GitHub), ##teamcity[…] anywhere in a line; ::…:: (GitHub)
// at its start.
const commandWithin = /#(?=#\w*\[)/g;
const commandAtStart = /(?<=^[^\S\n]*):(?=:[^\n]*::)/gm;

/**
 * Escapes what a terminal or the log of a CI job would obey in rendered text. It keeps line ends and hookmill's own
 * colours, so that values need `printable` too, in which those are escaped as well.
 */
export function printableText(text: string): string {
  return text
    .replace(colourOrUnprintable, found => (found.startsWith('\x1b[') ? found : printable(found)))
    .replace(commandWithin, '\\x23')
    .replace(commandAtStart, '\\x3a');
}

/** JSON that is safe on a terminal: the same value, with control characters as JSON escapes. */
export function printableJson(value: unknown, indent = 2): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const escapeJson = (character: string) => character.split('').map(escapeUnit).join('');
  return (
    JSON.stringify(value, null, indent)
      // Only the layout contains real line ends: JSON.stringify has escaped those in strings.
      .replace(unprintable, character => (character === '\n' ? character : escapeJson(character)))
      .replace(commandWithin, escapeJson)
  );
}
