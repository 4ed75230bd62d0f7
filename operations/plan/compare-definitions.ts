import { isDeepStrictEqual } from 'node:util';
import type { FieldChange } from '../../schema/changes/plan-shapes.ts';
import { renderPathSegment } from '../../schema/field-path.ts';
import { isObject } from '../../schema/filters/clause.ts';

/** Names an element of a list by what it is about, so that it is found again at another place. */
export type NameElement = (element: unknown) => string | undefined;

/**
 * Compares two definitions part by part, whatever fields they have. Objects are compared by key, lists of objects
 * element by element; other values are one part. A definition that is new has one change for each of its fields.
 */
export function compareDefinitions(
  before: object | undefined,
  after: object,
  without: readonly string[],
  nameElement: NameElement,
): FieldChange[] {
  return listKeys(before, after)
    .filter(field => !without.includes(field))
    .filter(field => !isDeepStrictEqual(getOwn(before, field), getOwn(after, field)))
    .flatMap(field => {
      const changes = compareParts(field, getOwn(before, field), getOwn(after, field), nameElement);
      return changes.map(change => ({ field, ...change }));
    });
}

type PartChange = Omit<FieldChange, 'field'>;

function compareParts(path: string, before: unknown, after: unknown, nameElement: NameElement): PartChange[] {
  if (isObject(before) && isObject(after)) {
    return listKeys(before, after).flatMap(key =>
      compareParts(path + renderPathSegment(key), getOwn(before, key), getOwn(after, key), nameElement),
    );
  }
  if (isListOfObjects(before) && isListOfObjects(after)) {
    return compareElements(path, before, after, nameElement);
  }
  if (isDeepStrictEqual(before, after)) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** Elements with the same name are compared with each other; those that were only moved are one change. */
function compareElements(
  path: string,
  before: readonly object[],
  after: readonly object[],
  nameElement: NameElement,
): PartChange[] {
  const toName = (element: object, index: number) => nameElement(element) ?? String(index);
  const [byNameBefore, byNameAfter] = [Map.groupBy(before, toName), Map.groupBy(after, toName)];
  const pairs = [...new Set([...byNameAfter.keys(), ...byNameBefore.keys()])].flatMap(name => {
    const paired = pairElements(byNameBefore.get(name) ?? [], byNameAfter.get(name) ?? [], nameElement);
    return paired.map((pair, index) => {
      const label = paired.length === 1 ? name : `${name} #${index + 1}`;
      return { label, ...pair };
    });
  });
  const changes = pairs.flatMap(pair =>
    compareParts(`${path}[${pair.label}]`, pair.before, pair.after, nameElement),
  );
  const orderBefore = listKept(before, pairs, 'before');
  const orderAfter = listKept(after, pairs, 'after');
  if (isDeepStrictEqual(orderBefore, orderAfter)) return changes;
  return [...changes, { path: `${path} (order)`, before: orderBefore, after: orderAfter }];
}

interface ElementPair {
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** Lists the elements that stay, by their labels, in the order of one side. */
function listKept(
  elements: readonly object[],
  pairs: readonly (ElementPair & { readonly label: string })[],
  side: 'before' | 'after',
): string[] {
  const kept = pairs.filter(pair => pair.before !== undefined && pair.after !== undefined);
  const labels = new Map(kept.map(pair => [pair[side], pair.label]));
  return elements.flatMap(element => labels.get(element) ?? []);
}

/** Pairs elements of the same name: equal ones first, then each with the one that it differs from in the fewest parts. */
function pairElements(
  before: readonly object[],
  after: readonly object[],
  nameElement: NameElement,
): ElementPair[] {
  const partners = new Map<object, object>();
  let free = [...after];
  const pairWith = (element: object, partner: object | undefined) => {
    if (partner === undefined) return;
    partners.set(partner, element);
    free = free.filter(other => other !== partner);
  };
  for (const element of before) {
    pairWith(
      element,
      free.find(other => isDeepStrictEqual(element, other)),
    );
  }
  const paired = new Set(partners.values());
  const left = before.filter(element => !paired.has(element));
  for (const element of left) {
    const distances = free.map(other => compareParts('', element, other, nameElement).length);
    pairWith(element, free[distances.indexOf(Math.min(...distances))]);
  }
  const gone = before.filter(element => ![...partners.values()].includes(element));
  return [
    ...after.map(element => ({ before: partners.get(element), after: element })),
    ...gone.map(element => ({ before: element })),
  ];
}

function isListOfObjects(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

/** The keys of both, in the order of the second. */
function listKeys(before: object | undefined, after: object): string[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before ?? {})])];
}

/** Reads only own keys: a payload may have a field `__proto__`. */
function getOwn(value: object | undefined, key: string): unknown {
  return value !== undefined && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
