/** A JSON value that no engine has parsed: each object is a map of its members. */
export type Reference =
  | string
  | number
  | boolean
  | null
  | readonly Reference[]
  | ReadonlyMap<string, Reference>;

const escapes = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);
const literals = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Reads JSON character by character, by the grammar of RFC 8259. Shares no code with what it is compared to. */
export function readReference(text: string): Reference {
  let at = 0;
  const fail = (): never => {
    throw new Error(`not JSON at ${at}`);
  };
  const take = (char: string) => (text[at] === char ? ++at > 0 : false);
  const skipSpace = () => {
    while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++;
  };
  const readString = (): string => {
    const units: string[] = [];
    for (;;) {
      const char = text[at++];
      if (char === undefined || char < ' ') return fail();
      if (char === '"') return units.join('');
      if (char !== '\\') units.push(char);
      else if (take('u')) {
        const hex = text.slice(at, at + 4);
        if (!/^[\da-f]{4}$/i.test(hex)) fail();
        at += 4;
        units.push(String.fromCharCode(Number.parseInt(hex, 16)));
      } else units.push(escapes.get(text.charAt(at++)) ?? fail());
    }
  };
  const readMembers = (): ReadonlyMap<string, Reference> => {
    const members = new Map<string, Reference>();
    skipSpace();
    if (take('}')) return members;
    do {
      skipSpace();
      if (!take('"')) fail();
      const key = readString();
      skipSpace();
      if (!take(':')) fail();
      members.set(key, readValue());
    } while (take(','));
    return take('}') ? members : fail();
  };
  const readElements = (): readonly Reference[] => {
    const elements: Reference[] = [];
    skipSpace();
    if (take(']')) return elements;
    do elements.push(readValue());
    while (take(','));
    return take(']') ? elements : fail();
  };
  const readWord = (): Reference => {
    const [word = ''] = /^[\w.+-]*/.exec(text.slice(at, at + 100)) ?? [];
    at += word.length;
    const literal = literals.get(word);
    if (literal !== undefined) return literal;
    return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(word) ? Number.parseFloat(word) : fail();
  };
  const readValue = (): Reference => {
    skipSpace();
    const value = take('"')
      ? readString()
      : take('{')
        ? readMembers()
        : take('[')
          ? readElements()
          : readWord();
    skipSpace();
    return value;
  };
  const value = readValue();
  return at === text.length ? value : fail();
}

/** Whether a value is what `JSON.parse` makes of the reference by its specification, with the order of its keys. */
export function isReference(value: unknown, reference: Reference): boolean {
  if (typeof reference !== 'object' || reference === null) return Object.is(value, reference);
  if (typeof value !== 'object' || value === null) return false;
  if (!(reference instanceof Map)) {
    const elements = reference as readonly Reference[];
    return (
      Array.isArray(value) &&
      value.length === elements.length &&
      elements.every((element, index) => isReference(value[index], element))
    );
  }
  const keys = Object.keys(value);
  return (
    Object.getPrototypeOf(value) === Object.prototype &&
    keys.length === reference.size &&
    orderKeys([...reference.keys()]).every(
      (key, index) => keys[index] === key && isReference(Reflect.get(value, key), reference.get(key)),
    )
  );
}

/** Orders keys as those of an object: array indexes first, by number, then the others as they came. */
function orderKeys(keys: readonly string[]): readonly string[] {
  const isIndex = (key: string) => /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
  const indexes = keys.filter(isIndex).sort((one, other) => Number(one) - Number(other));
  return [...indexes, ...keys.filter(key => !isIndex(key))];
}
