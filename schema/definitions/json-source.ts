import { LineCounter } from 'yaml';
import { dropByteOrderMark, parseJsonText } from '../../json/parse-json-text.ts';
import type { Range } from '../diagnostics.ts';

/** A file's text as plain JSON values, and where in the text each of them is. */
export interface ParsedSource {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  /** The place of the value at a path, or of the nearest collection around it if there is none. */
  readonly rangeOfValue: (path: readonly PropertyKey[]) => Range;
  /** The place of the key that a path ends in. */
  readonly rangeOfKey: (path: readonly PropertyKey[]) => Range;
}

export type ParsedJson =
  | { readonly ok: true; readonly source: ParsedSource }
  | { readonly ok: false; readonly expected: string; readonly range: Range };

/** Parses a JSON text as `parseJsonText` does, with the places of the members of its outermost object. */
export function parseJson(file: string, given: string): ParsedJson {
  const text = dropByteOrderMark(given);
  const outline = readOutline(text);
  const locate = locator(text);
  if (outline.error) return { ok: false, ...outline.error, range: locate(outline.error.span) };
  const member = ([key]: readonly PropertyKey[]) => outline.members.get(String(key));
  const start: Span = [text.search(/\S/), text.search(/\S/) + 1];
  return {
    ok: true,
    source: {
      file,
      text,
      value: parseJsonText(text),
      rangeOfKey: path => locate(member(path)?.key ?? start),
      rangeOfValue: path => locate(member(path)?.value ?? start),
    },
  };
}

type Span = readonly [start: number, end: number];

interface Outline {
  /** The members of the outermost object. If a key is repeated, the last one counts, as in `JSON.parse`. */
  readonly members: ReadonlyMap<string, { readonly key: Span; readonly value: Span }>;
  readonly error?: { readonly expected: string; readonly span: Span };
}

// The tokens of RFC 8259 section 2.
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: strings cannot contain these
  /[{}[\],:]|"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\r\n]*/y;

const expectations = {
  value: 'a value',
  'value or end': 'a value or ]',
  key: 'a key in double quotes',
  'key or end': 'a key in double quotes or }',
  colon: 'a colon',
  'comma or end': 'a comma or the closing bracket',
  nothing: 'the end of the file',
} as const;

type Expectation = keyof typeof expectations;

/** Reads token by token and keeps its own stack, because a payload may nest to any depth. */
function readOutline(text: string): Outline {
  const members = new Map<string, { key: Span; value: Span }>();
  const closing: ('}' | ']')[] = [];
  let expected: Expectation = 'value';
  let key: Span = [0, 0];
  let valueStart = 0;
  for (let at = 0; ; ) {
    const start = at + measure(space, text, at);
    const end = start + measure(token, text, start);
    if (start === text.length && expected === 'nothing') return { members };
    const isOutermost = closing.length === 1 && closing[0] === '}';
    if (isOutermost && expected.startsWith('key')) key = [start, end];
    if (isOutermost && expected === 'value') valueStart = start;
    const next: Expectation | undefined =
      end === start ? undefined : expectNext(expected, text.slice(start, end), closing);
    if (next === undefined) {
      const span: Span = [start, Math.max(end, start + 1)];
      return { members, error: { expected: expectations[expected], span } };
    }
    if (next === 'comma or end' && closing.length === 1 && closing[0] === '}') {
      members.set(String(parseJsonText(text.slice(...key))), { key, value: [valueStart, end] });
    }
    expected = next;
    at = end;
  }
}

/** Returns what may follow the token `found`; undefined if the token itself is not allowed here. */
function expectNext(expected: Expectation, found: string, closing: ('}' | ']')[]): Expectation | undefined {
  const afterValue = () => (closing.length === 0 ? 'nothing' : 'comma or end');
  const isString = found.startsWith('"');
  if (found === closing.at(-1) && expected.endsWith('or end')) {
    closing.pop();
    return afterValue();
  }
  switch (expected) {
    case 'key':
    case 'key or end':
      return isString ? 'colon' : undefined;
    case 'colon':
      return found === ':' ? 'value' : undefined;
    case 'comma or end':
      if (found !== ',') return undefined;
      return closing.at(-1) === '}' ? 'key' : 'value';
    case 'value':
    case 'value or end':
      if (found === '{' || found === '[') {
        closing.push(found === '{' ? '}' : ']');
        return found === '{' ? 'key or end' : 'value or end';
      }
      return /^[\]},:]$/.test(found) ? undefined : afterValue();
    case 'nothing':
      return undefined;
  }
}

function measure(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** Counts the lines of a text, to convert offsets to ranges. */
function locator(text: string): (span: Span) => Range {
  const lines = countLines(text);
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  return ([start, end]) => ({ start: position(start), end: position(end) });
}

/** Counts the lines of a text. The parser of YAML misses some of them where a mistake makes it read a part again. */
export function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}
