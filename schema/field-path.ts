import { parseJsonText } from '../json/parse-json-text.ts';

/** The steps from a payload to one value in it: names of fields, and indexes of elements. */
export type FieldPath = readonly (string | number)[];

const jsonString = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`;
const segment = String.raw`\.([A-Za-z_]\w*)|\[(${jsonString}|0|[1-9]\d{0,8})\]`;
const segments = new RegExp(segment, 'g');

/** A singular path of RFC 9535 below the root, such as `$.issue.id`, `$["odd name"]` or `$.items[0]`. */
export const fieldPathPattern = new RegExp(`^\\$(?:${segment})+$`);

/** Parses a path; undefined if it is invalid. */
export function parseFieldPath(text: string): FieldPath | undefined {
  if (!fieldPathPattern.test(text)) return undefined;
  return [...text.matchAll(segments)].map(
    ([, name, inBrackets = '']) => name ?? (parseJsonText(inBrackets) as string | number),
  );
}

/** Reads the value at a path, through own fields only; undefined if there is none. */
export function readField(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) !== (typeof step === 'number') || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/**
 * Finds the path that was probably meant by an invalid one, such as `issue.id`, `$.odd-name` or `{{ event.issue.id }}`.
 * Templates call the payload `event`; elsewhere that is a field of it.
 */
export function suggestFieldPath(text: string): string | undefined {
  const [, inner = ''] =
    /^(?:\$?\{\{\s*(?:event(?=\.))?)?\s*(?:\$|payload(?=\.))?\.?(.*?)\s*(?:\}\})?$/.exec(text) ?? [];
  const keys = inner.split(/\.|\[['"]?|['"]?\]/).filter(key => key !== '');
  const path = keys
    .map(key => (/^\d{1,9}$/.test(key) ? `[${Number(key)}]` : renderPathSegment(key)))
    .join('');
  const isClear = keys.length > 0 && keys.every(key => /^[\w -]+$/.test(key));
  return isClear ? `$${path}` : undefined;
}

/** Says what is wrong with a text that should be the path of a field; undefined if it is one. */
export function findPathMistake(
  text: string,
): { readonly message: string; readonly hint: string } | undefined {
  if (parseFieldPath(text)) return undefined;
  const meant = suggestFieldPath(text);
  const hint =
    meant === undefined ? 'write the path of one field, e.g. $.issue.id' : `did you mean ${meant}?`;
  return { message: `"${text}" is not the path of a field`, hint };
}

/** Renders a key as a segment of a path, as JSONPath does (RFC 9535): `.level`, or `["odd name"]`. */
export function renderPathSegment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
