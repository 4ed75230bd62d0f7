/** Text as one word of a POSIX shell's command line. */
export function quoteShellWord(text: string): string {
  return /^[\w./~@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
