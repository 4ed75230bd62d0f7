import { dropByteOrderMark, findStringEnd, parseJsonText } from './parse-json-text.ts';

/**
 * Finds the texts of values in a JSON text, by their paths: each character as it stands there. So numbers keep all their
 * digits, which a parsed value loses beyond 2^53, and nothing is written again. Of a key that occurs twice, the last value
 * counts, as it does for `parseJsonText`. The text must be JSON.
 */
export function createTextFinder(given: string): (path: readonly (string | number)[]) => string | undefined {
  const text = dropByteOrderMark(given);
  /** The values of each container that was looked into, by key or index: where each begins. */
  const containers = new Map<number, ReadonlyMap<string | number, number>>();
  const open = (start: number) => {
    const known = containers.get(start) ?? indexContainer(text, start);
    containers.set(start, known);
    return known;
  };
  return path => {
    let start: number | undefined = skipSpace(text, 0);
    for (const step of path) {
      if (text[start] !== (typeof step === 'number' ? '[' : '{')) return undefined;
      start = open(start).get(step);
      if (start === undefined) return undefined;
    }
    return text.slice(start, findValueEnd(text, start));
  };
}

/** Finds where each value of an object or a list begins. */
function indexContainer(text: string, start: number): ReadonlyMap<string | number, number> {
  const starts = new Map<string | number, number>();
  const isObject = text[start] === '{';
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== '}' && text[at] !== ']'; index++) {
    let key: string | number = index;
    if (isObject) {
      const end = findStringEnd(text, at);
      key = parseJsonText(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    starts.set(key, at);
    at = skipSpace(text, findValueEnd(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return starts;
}

/** Finds the end of the value that begins at `start`. It counts levels, because a payload may nest to any depth. */
function findValueEnd(text: string, start: number): number {
  if (text[start] === '"') return findStringEnd(text, start);
  if (text[start] !== '{' && text[start] !== '[') return findNext(text, start, /[\s,\]}]|$/g);
  let level = 0;
  for (let at = start; ; at = findNext(text, at, /["[\]{}]/g)) {
    if (text[at] === '"') at = findStringEnd(text, at);
    else {
      level += text[at] === '{' || text[at] === '[' ? 1 : -1;
      at++;
      if (level === 0) return at;
    }
  }
}

function skipSpace(text: string, at: number): number {
  return findNext(text, at, /[^ \t\r\n]|$/g);
}

/** Finds the first match from an index on. There is one, as the text is JSON. */
function findNext(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  if (!found) throw new Error('the text is not JSON');
  return found.index;
}
