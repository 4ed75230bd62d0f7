import { renderPathSegment } from '../field-path.ts';
import type { Scalar } from '../filters/clause.ts';
import { type Observation, type ObservedNode, type ObservedType, observedTypes } from './observation.ts';

/** @limit Longest string of a payload that is shown as an example, in characters: longer ones are prose or data. */
const exampleCharsMax = 40;

// Names of fields whose values may be credentials or give access to something, whatever they look like.
const secretName =
  /passw|passphrase|secret|token|credential|authori[sz]|(?:^|[_-])auth(?:$|[_-])|api[_-]?key|private[_-]?key|access[_-]?key|signature|session|cookie|nonce|otp|(?:^|[_-])(?:pin|pwd|cvc|cvv|ssn|iban|key)(?:$|[_-])/i;

// The beginnings of well-known credentials, and of a JWT and a PEM block.
const credentialPrefix =
  /^(?:gh[pousr]_|github_pat_|glpat-|sk[_-]|pk[_-]|rk[_-]|whsec_|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\.|eyJ|shp(?:at|ca|pa|ss)_|SG\.|npm_|dop_v1_|-----BEGIN|Bearer |Basic )/;

// A user in a URL, or a parameter of one.
const urlCredential = /:\/\/[^/]*@|[?&#][^=]*=/;

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

/** Whether values below a key may be shown: the key is not the name of something secret. */
export function isShowableName(key: string): boolean {
  return !secretName.test(splitWords(key));
}

/** Whether a key may be shown: it is a name, and not data or a credential. */
export function isShowableKey(key: string): boolean {
  return key.length <= keyCharsMax && isShowableValue(key);
}

/** Whether a value may be shown as an example: it is short, and neither looks like a credential nor like one inside a URL. */
export function isShowableValue(value: Scalar): boolean {
  if (typeof value !== 'string') return true;
  if (value.length > exampleCharsMax || credentialPrefix.test(value) || urlCredential.test(value))
    return false;
  return !value.split(/[^A-Za-z0-9_+/=-]+/).some(looksRandom);
}

/**
 * Replaces the words of a text that look like credentials. Parts of names, such as `feature/JIRA-12-v2`, are judged one by
 * one.
 */
export function hideCredentials(text: string): string {
  return text
    .replaceAll(/\b(Bearer|Basic) (?=\S*[\d+/=])\S{8,}/gi, '$1 …')
    .replaceAll(/[^\s"'“”()<>,;]+/g, word => {
      const isHidden = credentialPrefix.test(word) || urlCredential.test(word);
      return isHidden || word.split(/[^A-Za-z0-9+=]+/).some(looksRandom) ? '…' : word;
    });
}

/** Whether a word could be a generated key: 16 or more characters that mix letters with several digits, or cases. */
function looksRandom(word: string): boolean {
  if (word.length < 16) return false;
  const runs = word.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const digits = word.replaceAll(/\D/g, '').length;
  const letters = word.replaceAll(/[^A-Za-z]/g, '').length;
  return (digits >= 2 && letters >= 2 && runs.length >= 5) || /^[0-9a-f]{20,}$/i.test(word);
}

/** Separates the words of a name in camelCase, so that `apiKey` is read as `api_key`. */
function splitWords(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2');
}
