/** Removes a byte order mark, which programs on Windows write before JSON. RFC 8259 section 8.1 lets a parser pass over it. */
export function dropByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * Parses JSON (RFC 8259), also after a byte order mark, with the results and the errors that `JSON.parse` has by its
 * specification. All JSON is parsed by
 * this function, because some engines take an escaped key for another one: see `hasEscapedKeyDefect`. On the others, it is
 * `JSON.parse`.
 */
export function parseJsonText(given: string): unknown {
  const text = dropByteOrderMark(given);
  const isMisread = hasEscapedKeyDefect();
  const value: unknown = JSON.parse(text);
  return isMisread && hasEscapedKey(text) ? readAgain(text) : value;
}

let isDefective: boolean | undefined;

/**
 * Whether `JSON.parse` of this engine has nodejs/node#63785, as in Node.js 24 and 26. V8 remembers which key followed the
 * same keys before. It compares that key with the source of the next one, whose escapes are not decoded yet, cut to its
 * decoded length. So it reads a key with escapes as an earlier key that had a backslash.
 */
export function hasEscapedKeyDefect(): boolean {
  // Looks before the first text is parsed, so that no text can hide the defect.
  isDefective ??= probeEscapedKeys();
  return isDefective;
}

function probeEscapedKeys(): boolean {
  // V8 remembers only some keys at a place, by the number of keys of the object. This place is hardly ever used.
  const others = Array.from({ length: 60 }, (_, index) => `"hookmill${index}":0,`).join('');
  const earlier: object = JSON.parse(String.raw`{${others}"\\u0":0}`);
  const later: object = JSON.parse(String.raw`{${others}"\u00e9\u00e9\u00e9":0}`);
  return Object.keys(earlier).at(-1) === Object.keys(later).at(-1);
}

/** What the defect means for whoever runs hookmill. */
export const escapedKeyDefect =
  'JSON.parse of this Node.js misreads some escaped keys (nodejs/node#63785); hookmill reads them itself, but other programs on this Node.js may be affected';

const colon = /[ \t\r\n]*:/y;

/** Whether a key of the text has an escape. The text must be JSON. */
function hasEscapedKey(text: string): boolean {
  // A backslash is always part of a string, which ends at the next quote that is not escaped.
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    at = findStringEnd(text, at);
    colon.lastIndex = at;
    if (colon.test(text)) return true;
  }
  return false;
}

/** Finds the end of a string, from its opening quote or the beginning of any of its escapes; 0 if the text was cut in it. */
export function findStringEnd(text: string, start: number): number {
  let end = start;
  let backslashes: number;
  do {
    end = text.indexOf('"', end + 1);
    backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
  } while (backslashes % 2 === 1);
  return end + 1;
}

type Container = unknown[] | Record<string, unknown>;

const otherToken = /[^ \t\r\n,\]}]+/y;

/** Reads a text that is JSON. It keeps its own stack, because a payload may nest to any depth. */
function readAgain(text: string): unknown {
  const outermost: unknown[] = [];
  const outer: Container[] = [];
  let container: Container = outermost;
  let key: string | undefined;
  for (let at = 0; at < text.length; ) {
    const start = at++;
    let value: unknown;
    switch (text[start]) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
      case ',':
      case ':':
        continue;
      case ']':
      case '}':
        container = outer.pop() ?? outermost;
        continue;
      case '[':
        value = [];
        break;
      case '{':
        value = {};
        break;
      case '"':
        at = findStringEnd(text, start);
        value = JSON.parse(text.slice(start, at));
        break;
      default:
        otherToken.lastIndex = start;
        otherToken.test(text);
        at = otherToken.lastIndex;
        value = readLiteral(text.slice(start, at));
    }
    if (Array.isArray(container)) container.push(value);
    else if (key === undefined) key = value as string;
    else {
      setOwn(container, key, value);
      key = undefined;
    }
    if (typeof value === 'object' && value !== null) {
      outer.push(container);
      container = value as Container;
    }
  }
  return outermost[0];
}

function readLiteral(token: string): number | boolean | null {
  switch (token) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return Number(token);
  }
}

function setOwn(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') record[key] = value;
  // An assignment would set the prototype.
  else Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Reads a text as JSON; undefined if it is not JSON. */
export function readJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
