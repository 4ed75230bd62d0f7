/** Where somebody types in a text of YAML, which may not be valid there yet. */
export interface YamlCursor {
  /** The keys above, and below which something is typed; `[]` stands for a list. */
  readonly path: readonly string[];
  /** What is typed: a key of the mapping at the path, or its value. In a list it may be either. */
  readonly at: 'key' | 'value';
  /** Where the word before the cursor begins. */
  readonly from: number;
  /** The word before the cursor, without quotes. */
  readonly word: string;
  /** Whether it is within braces or brackets, or an item with a dash. */
  readonly isListed: boolean;
  readonly isFlow: boolean;
  /** The column of the keys at the path. */
  readonly column: number;
}

/** The dashes before a line's content, its key if it has one, and the text after the colon. */
const linePattern = /^(\s*)((?:- +)*)(?:("[^"]*"|'[^']*'|[^\s'"#[{-][^:#]*?)\s*:(?:\s+|$))?(.*)$/;

/** Finds out what is typed at a place, by how the lines are indented. */
export function findYamlCursor(text: string, at: number): YamlCursor {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const line = readLine(text.slice(lineStart, at));
  const above = findAbove(text.slice(0, Math.max(0, lineStart - 1)).split('\n'), line);
  const start = at - line.rest.length;
  const flow = scanFlow(line.rest);
  const path = [...above, ...(line.key === undefined ? [] : [line.key]), ...flow.path];
  const word = line.rest.slice(flow.wordAt);
  return {
    path,
    at: flow.isOpen ? flow.at : line.key === undefined ? 'key' : 'value',
    from: start + flow.wordAt,
    word: word.replace(/^['"]/, ''),
    isListed: path.at(-1) === '[]',
    isFlow: flow.isOpen,
    column: line.column,
  };
}

interface Line {
  /** The column of its key, after its dashes. */
  readonly column: number;
  /** The columns of its dashes. */
  readonly dashes: readonly number[];
  readonly key: string | undefined;
  readonly rest: string;
}

function readLine(text: string): Line {
  const [, spaces = '', dashes = '', key, rest = ''] = linePattern.exec(text) ?? [];
  const columns = [...dashes.matchAll(/-/g)].map(({ index }) => spaces.length + index);
  const column = spaces.length + dashes.length;
  return { column, dashes: columns, key: key?.replaceAll(/^['"]|['"]$/g, ''), rest };
}

/** The keys above a line, from the outermost. */
function findAbove(before: readonly string[], { column, dashes }: Line): string[] {
  const path: string[] = [];
  let limit = column;
  /** Only what is not deeper than its dash can contain a list. */
  const enterLists = (columns: readonly number[]) => {
    for (const dash of columns.toReversed()) {
      path.unshift('[]');
      limit = dash + 0.5;
    }
  };
  enterLists(dashes);
  for (const text of before.toReversed()) {
    if (limit <= 0) break;
    const line = readLine(text);
    if (text.trim() === '' || text.trim().startsWith('#')) continue;
    if (line.key !== undefined && line.column < limit) {
      path.unshift(line.key);
      limit = line.column;
    }
    if (line.column <= limit) enterLists(line.dashes);
  }
  return path;
}

interface Flow {
  /** Whether a brace or bracket is open. */
  readonly isOpen: boolean;
  readonly path: readonly string[];
  readonly at: 'key' | 'value';
  readonly wordAt: number;
}

/** Reads braces and brackets up to the cursor. */
function scanFlow(text: string): Flow {
  const open: { readonly isList: boolean; key?: string | undefined }[] = [];
  let wordAt = 0;
  const tokens = /"(?:[^"\\]|\\.)*"?|'[^']*'?|[[\]{},]|:(?=\s|$)|[^\s[\]{},:"']+|:|\s+/g;
  let last = '';
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') open.push({ isList: token === '[' });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && inner) inner.key = undefined;
    else if (token === ':' && inner && !inner.isList) inner.key = last.replaceAll(/^['"]|['"]$/g, '');
    else if (token.trim() !== '') {
      last = token;
      wordAt = index;
      continue;
    }
    wordAt = index + token.length;
  }
  const path = open.flatMap(({ isList, key }) => (isList ? ['[]'] : key === undefined ? [] : [key]));
  const inner = open.at(-1);
  const isValue = inner?.isList || inner?.key !== undefined;
  return { isOpen: open.length > 0, path, at: isValue ? 'value' : 'key', wordAt };
}
