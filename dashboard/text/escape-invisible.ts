// Control characters except tab and line feed, what sets the direction of text, and what has no width.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from outside with what cannot be seen written out, so that it cannot pass for other text. */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
