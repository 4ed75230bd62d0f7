// Control characters except tab and line feed, text-direction characters, and zero-width characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** `217 B`, `1.4 KB`, `256 KB`, `1.2 MB`. A KB is 1024 bytes, as in the limits. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** `dlv_…z5egtcs`: the kind of an ID and its last characters. */
export function shortenId(id: string): string {
  const [kind = ''] = id.split('_');
  return id.length <= kind.length + 9 ? id : `${kind}_…${id.slice(-7)}`;
}

/** `1 webhook`, `2 webhooks`. */
export function formatCount(count: number, thing: string, things = `${thing}s`): string {
  return count === 1 ? `1 ${thing}` : `${count} ${things}`;
}

/** Writes invisible characters as escapes, so that text from outside cannot look like other text. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisible, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
