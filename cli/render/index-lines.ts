export type FindLine = (file: string, line: number) => string;

/** Finds lines of texts, counted from 1. Each text is split once, because a file may have thousands of mistakes. */
export function indexLines(texts: ReadonlyMap<string, string>): FindLine {
  const split = new Map<string, readonly string[]>();
  return (file, line) => {
    const lines = split.get(file) ?? (texts.get(file) ?? '').split(/\r?\n/);
    split.set(file, lines);
    return lines[line - 1] ?? '';
  };
}
