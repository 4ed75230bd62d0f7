// Control characters except tab and line feed, text-direction characters, and zero-width characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Writes invisible characters as escapes, so that text from outside cannot look like other text. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisible, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
