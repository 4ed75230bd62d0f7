// C0, DEL and C1 control characters, and those that turn the direction of text: a terminal would act on them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is replaced
const unprintable = /[\0-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from files, git or senders as a terminal may safely get it: control characters escaped. */
export function printable(text: string): string {
  return text.replace(unprintable, character => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** JSON as a terminal may safely get it: it is the same value, with those characters written as JSON's escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(unprintable, character =>
    // In strings line ends are escaped already; these are the layout's.
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
