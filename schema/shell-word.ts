/** Quotes text as one word for a POSIX shell. A ~ is quoted too: at the start, it stands for a home directory. */
export function quoteShellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
