import { isObject } from '../filters/clause.ts';

/** @limit Longest line of a changed value, in characters: longer ones are wrapped, because a reader compares lines. */
const lineCharsMax = 100;

/**
 * Renders a value of a definition on several lines, as YAML's block style: one line for each key and list element, as
 * long as they fit. A plain list has no dashes, which could be read as the mark of a removed line. Long lines are
 * wrapped and never cut.
 */
export function renderBlockLines(value: unknown): readonly string[] {
  const isPlainList = Array.isArray(value) && !value.some(isObject);
  return (isPlainList ? value.map(renderFlowValue) : renderBlock(value)).flatMap(wrapLine);
}

/** Splits a text into lines, and wraps long ones. */
export function renderTextLines(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n').flatMap(wrapLine);
}

function renderBlock(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap(element => {
      const [first = '', ...others] = isObject(element) ? renderBlock(element) : [renderFlowValue(element)];
      return [`- ${first}`, ...others.map(indent)];
    });
  }
  if (!isObject(value) || Object.keys(value).length === 0) return [renderFlowValue(value)];
  return Object.entries(value).flatMap(([key, part]) => {
    const line = `${renderWord(key)}: ${renderFlowValue(part)}`;
    const isNested = Array.isArray(part) || isObject(part);
    if (line.length <= lineCharsMax || !isNested) return [line];
    return [`${renderWord(key)}:`, ...renderBlock(part).map(indent)];
  });
}

function indent(line: string): string {
  return `  ${line}`;
}

/**
 * Breaks a long line after its sentences, and long sentences between words. So a change in one sentence leaves the
 * other lines as they were. The lines that continue it are indented.
 */
function wrapLine(line: string): readonly string[] {
  if (line.length <= lineCharsMax) return [line];
  const pieces = line.split(/(?<=[.!?;:] )/).flatMap(wrapSentence);
  return pieces.map((piece, index) => (index === 0 ? piece : `    ${piece}`));
}

function wrapSentence(sentence: string): readonly string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > lineCharsMax) {
    const space = rest.lastIndexOf(' ', lineCharsMax);
    const end = space > 0 ? space + 1 : lineCharsMax;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

/**
 * Renders a value of a definition on one line, as YAML's flow style: `[failed, error]`, `{ exists: true }`. Two values
 * that are not equal never have the same text.
 */
export function renderFlowValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlowValue).join(', ')}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).map(
      ([key, part]) => `${renderWord(key)}: ${renderFlowValue(part)}`,
    );
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return typeof value === 'string' ? renderWord(value) : String(value);
}

/** Renders a string without quotes if YAML reads it as the same string. */
export function renderWord(text: string): string {
  const isPlain = /^[A-Za-z_](?:[\w ./()-]*[\w./)-])?$/.test(text) && !/^(?:true|false|null)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
