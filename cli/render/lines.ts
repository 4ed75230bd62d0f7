export type LineAt = (file: string, line: number) => string;

/** The lines of texts, counted from 1. Each text is split once: a file may have thousands of mistakes. */
export function linesOf(texts: ReadonlyMap<string, string>): LineAt {
  const split = new Map<string, readonly string[]>();
  return (file, line) => {
    const lines = split.get(file) ?? (texts.get(file) ?? '').split(/\r?\n/);
    split.set(file, lines);
    return lines[line - 1] ?? '';
  };
}
