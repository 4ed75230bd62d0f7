/** The definition of payload filters, sentence by sentence, with nothing of ours. */
export function naivelyMatches(filter: unknown, body: unknown): boolean {
  const isList = Array.isArray(body) && body.length > 0;
  return isList ? body.some(element => everyKeyMatches(filter, element)) : everyKeyMatches(filter, body);
}

function everyKeyMatches(filter: unknown, element: unknown): boolean {
  return [...fieldsOf(filter)].every(([name, asked]) => fieldMatches(asked, fieldsOf(element), name));
}

function fieldMatches(asked: unknown, fields: ReadonlyMap<string, unknown>, name: string): boolean {
  const isMissing = !fields.has(name);
  const candidates = isMissing ? [] : [fields.get(name)].flat();
  const isIn = (allowed: unknown[]) => candidates.some(one => allowed.some(scalar => one === scalar));
  const isLike = (globs: unknown[]) =>
    candidates.some(text => globs.some(glob => naivelyLike(String(glob), text)));
  const isObject = (inner: unknown) =>
    candidates.some(one => isJsonObject(one) && everyKeyMatches(inner, one));
  const holds = ([key, operand]: readonly [string, unknown]): boolean | 'no operator' => {
    if (key === 'in' && Array.isArray(operand)) return isIn(operand);
    if (key === 'not_in' && Array.isArray(operand)) return !isIn(operand);
    if (key === 'exists' && typeof operand === 'boolean') return operand === !isMissing;
    if (key === '$like' && Array.isArray(operand)) return isLike(operand);
    if (key === '$not_like' && Array.isArray(operand)) return !isLike(operand);
    if (key === '$none') return !isObject(operand);
    if (key !== '$compare') return 'no operator';
    return candidates.some(one => [...fieldsOf(operand)].every(bound => naivelyHolds(bound, one)));
  };
  if (Array.isArray(asked)) return isIn(asked);
  const verdicts = [...fieldsOf(asked)].map(holds);
  const isNested = verdicts.length === 0 || verdicts.includes('no operator');
  return isNested ? isObject(asked) : verdicts.every(verdict => verdict === true);
}

/** Whether the pattern matches the whole value, tried character by character from the left. */
export function naivelyLike(glob: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const [first, second] = glob;
  if (first === undefined) return value === '';
  if (first === '*')
    return naivelyLike(glob.slice(1), value) || (value !== '' && naivelyLike(glob, value.slice(1)));
  const [literal, rest] = first === '\\' ? [second, glob.slice(2)] : [first, glob.slice(1)];
  return value[0] === literal && naivelyLike(rest, value.slice(1));
}

function naivelyHolds([name, bound]: readonly [string, unknown], value: unknown): boolean {
  if (typeof value !== 'number' || typeof bound !== 'number') return false;
  if (name === 'at_least') return value >= bound;
  if (name === 'above') return value > bound;
  return name === 'at_most' ? value <= bound : value < bound;
}

/** The own fields of an object; of anything else none. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return isJsonObject(value) ? new Map(Object.entries(value)) : new Map();
}

function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
