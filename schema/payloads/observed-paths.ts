import { renderPathSegment } from '../field-path.ts';
import type { Scalar } from '../filters/clause.ts';
import { isShowableName, isShowableValue } from '../text/credentials.ts';
import { type Observation, type ObservedNode, type ObservedType, observedTypes } from './observation.ts';

/** @limit Most paths of payloads that are shown: nobody reads more, and every payload below a MiB of text fits. */
const pathsShownMax = 2_000;
/** @limit Most example values that are shown of a path: enough to recognise its kind of value. */
const examplesMax = 5;
/** @limit Longest key of a payload that is shown, in characters: longer ones are data, not names. */
const keyCharsMax = 64;

/** One path of observed payloads, as it is shown. */
export interface ObservedPath {
  /** A JSONPath (RFC 9535) such as `$.labels[*].name`. */
  readonly path: string;
  /** The keys of the path; null stands for the elements of an array. */
  readonly keys: (string | null)[];
  /** The number of deliveries in which the path has a value. */
  readonly deliveries: number;
  readonly types: { readonly type: ObservedType; readonly values: number }[];
  /** Some values, the most frequent first. None of them looks like a credential. */
  readonly examples: Scalar[];
  /** The examples are all values that were observed. */
  readonly isEnumeration: boolean;
}

export interface ObservedPaths {
  /** The number of observed deliveries. */
  readonly deliveries: number;
  /** Each path before those below it. */
  readonly paths: ObservedPath[];
  /** Further paths were observed. */
  readonly hasMore: boolean;
}

/** Lists the paths of observed payloads, without anything that looks secret. */
export function listObservedPaths({ deliveries, root }: Observation): ObservedPaths {
  const paths: ObservedPath[] = [];
  let hasMore = false;
  const add = (node: ObservedNode, keys: (string | null)[], path: string) => {
    hasMore ||= node.hasMoreFields;
    if (paths.length >= pathsShownMax) {
      hasMore = true;
      return;
    }
    paths.push(toShown(node, keys, path));
    if (node.elements) add(node.elements, [...keys, null], `${path}[*]`);
    for (const [key, child] of node.fields) {
      if (!isShowableKey(key)) hasMore = true;
      else add(child, [...keys, key], `${path}${renderPathSegment(key)}`);
    }
  };
  if (deliveries > 0) add(root, [], '$');
  return { deliveries, paths, hasMore };
}

function toShown(node: ObservedNode, keys: (string | null)[], path: string): ObservedPath {
  const examples = findExamples(node, keys);
  const { scalars, hasMoreScalars, deliveries } = node;
  return {
    path,
    keys,
    deliveries,
    types: observedTypes.flatMap(type => {
      const values = node.types[type];
      return values === 0 ? [] : [{ type, values }];
    }),
    examples,
    isEnumeration: !hasMoreScalars && examples.length > 0 && examples.length === scalars.size,
  };
}

/** The most frequent values at a path that may be shown. */
export function findExamples({ scalars }: ObservedNode, keys: readonly (string | null)[]): Scalar[] {
  if (!isShowablePath(keys)) return [];
  return [...scalars]
    .filter(([value]) => isShowableValue(value))
    .sort(([, a], [, b]) => b - a)
    .slice(0, examplesMax)
    .map(([value]) => value);
}

/** Whether values at a path may be shown: none of its keys is the name of something secret. */
function isShowablePath(keys: readonly (string | null)[]): boolean {
  return keys.every(key => key === null || isShowableName(key));
}

/** Whether a key may be shown: it is a name, and not data or a credential. */
export function isShowableKey(key: string): boolean {
  return key.length <= keyCharsMax && isShowableValue(key);
}
