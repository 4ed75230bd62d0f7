/** Whether a text contains every word that someone typed, in any order and in upper or lower case. */
export function matchesWords(text: string, typed: string): boolean {
  const searched = text.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every(word => searched.includes(word));
}
