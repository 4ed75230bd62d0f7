// C0, DEL and C1 control characters, and those that change the direction of text: a terminal would obey them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are replaced
const unprintable = /[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes control characters, so that text from files, git or senders is safe on a terminal. */
export function printable(text: string): string {
  return text.replace(unprintable, character => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** JSON that is safe on a terminal: the same value, with control characters as JSON escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(unprintable, character =>
    // Only the layout contains real line ends: JSON.stringify has escaped those in strings.
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
