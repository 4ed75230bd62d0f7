// White space, and characters without width, at the ends of a text.
const stray = /^[\s\u200b-\u200d\u2060\ufeff]+|[\s\u200b-\u200d\u2060\ufeff]+$/g;

/** Whether a key or value starts or ends with white space or invisible characters. */
export function hasStrayCharacter(text: string): boolean {
  return text !== '' && text.search(stray) >= 0;
}

export function removeStrayCharacters(text: string): string {
  return text.replaceAll(stray, '');
}
