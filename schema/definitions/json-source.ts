import { LineCounter } from 'yaml';
import type { Range } from '../diagnostics.ts';
import type { YamlSource } from './yaml-source.ts';

export type ParsedJson =
  | { readonly ok: true; readonly source: YamlSource }
  | { readonly ok: false; readonly expected: string; readonly range: Range };

/** A JSON text as `JSON.parse` reads it, with the places of what stands in its outermost object. */
export function parseJson(file: string, text: string): ParsedJson {
  const outline = outlineOf(text);
  const range = rangesOf(text);
  if (outline.error) return { ok: false, ...outline.error, range: range(outline.error.span) };
  const member = ([key]: readonly PropertyKey[]) => outline.members.get(String(key));
  const start: Span = [text.search(/\S/), text.search(/\S/) + 1];
  return {
    ok: true,
    source: {
      file,
      text,
      value: JSON.parse(text),
      rangeOfKey: path => range(member(path)?.key ?? start),
      rangeOfValue: path => range(member(path)?.value ?? start),
    },
  };
}

type Span = readonly [start: number, end: number];

interface Outline {
  /** The outermost object's members, the last of those with the same key. */
  readonly members: ReadonlyMap<string, { readonly key: Span; readonly value: Span }>;
  readonly error?: { readonly expected: string; readonly span: Span };
}

// RFC 8259. What follows may be one of the tokens of section 2.
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that a string cannot hold
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

/** Reads token by token with a stack of its own: a payload may nest as deep as it likes. */
function outlineOf(text: string): Outline {
  const members = new Map<string, { key: Span; value: Span }>();
  const closing: ('}' | ']')[] = [];
  let expected: Expectation = 'value';
  let key: Span = [0, 0];
  let valueStart = 0;
  for (let at = 0; ; ) {
    const start = at + lengthAt(space, text, at);
    const end = start + lengthAt(token, text, start);
    if (start === text.length && expected === 'nothing') return { members };
    const isOutermost = closing.length === 1 && closing[0] === '}';
    if (isOutermost && expected.startsWith('key')) key = [start, end];
    if (isOutermost && expected === 'value') valueStart = start;
    const next: Expectation | undefined =
      end === start ? undefined : after(expected, text.slice(start, end), closing);
    if (next === undefined) {
      const span: Span = [start, Math.max(end, start + 1)];
      return { members, error: { expected: expectations[expected], span } };
    }
    if (next === 'comma or end' && closing.length === 1 && closing[0] === '}') {
      members.set(JSON.parse(text.slice(...key)), { key, value: [valueStart, end] });
    }
    expected = next;
    at = end;
  }
}

/** What may follow a token; undefined if the token itself may not stand there. */
function after(expected: Expectation, found: string, closing: ('}' | ']')[]): Expectation | undefined {
  const ended = () => (closing.length === 0 ? 'nothing' : 'comma or end');
  const isString = found.startsWith('"');
  if (found === closing.at(-1) && expected.endsWith('or end')) {
    closing.pop();
    return ended();
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
      return /^[\]},:]$/.test(found) ? undefined : ended();
    case 'nothing':
      return undefined;
  }
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

function rangesOf(text: string): (span: Span) => Range {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  return ([start, end]) => ({ start: position(start), end: position(end) });
}
