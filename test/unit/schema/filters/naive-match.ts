/** The definition of payload filters, sentence by sentence, with nothing of ours. */
export function naivelyMatches(filter: unknown, value: unknown): boolean {
  const everyKeyMatches = (element: unknown) =>
    [...fieldsOf(filter)].every(([name, asked]) => fieldMatches(asked, fieldsOf(element), name));
  const isList = Array.isArray(value) && value.length > 0;
  return isList ? value.some(everyKeyMatches) : everyKeyMatches(value);
}

function fieldMatches(asked: unknown, fields: ReadonlyMap<string, unknown>, name: string): boolean {
  const isMissing = !fields.has(name);
  const value = fields.get(name);
  const isIn = (allowed: unknown[]) =>
    !isMissing && [value].flat().some(candidate => allowed.some(scalar => candidate === scalar));

  const isLike = (globs: unknown[]) =>
    !isMissing && [value].flat().some(text => globs.some(glob => naivelyLike(String(glob), text)));

  if (Array.isArray(asked)) return isIn(asked);
  const [[key, operand] = [], ...others] = fieldsOf(asked);
  if (others.length === 0) {
    if (key === 'in' && Array.isArray(operand)) return isIn(operand);
    if (key === 'not_in' && Array.isArray(operand)) return !isIn(operand);
    if (key === 'like' && Array.isArray(operand)) return isLike(operand);
    if (key === 'not_like' && Array.isArray(operand)) return !isLike(operand);
    const bounds = key === 'compare' ? [...fieldsOf(operand)] : [];
    if (bounds.length > 0 && bounds.every(([, bound]) => typeof bound === 'number'))
      return !isMissing && [value].flat().some(one => bounds.every(bound => naivelyHolds(bound, one)));
    if (key === 'exists' && typeof operand === 'boolean') return operand === !isMissing;
  }
  return naivelyMatches(asked, value);
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map();
  return new Map(Object.entries(value));
}
