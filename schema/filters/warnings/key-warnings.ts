import { type Fields, hasOperator, isObject } from '../clause.ts';
import { renderFlow } from '../render-filter.ts';
import { type FilterWarning, hasStrayCharacter, removeStrayCharacters } from './filter-warning.ts';

/** Finds a key that probably names no field as it is written. `isRoot`: the object is the filter itself. */
export function findKeyWarning(key: string, fields: Fields, isRoot: boolean): FilterWarning | undefined {
  const about = { path: [key], atKey: true };
  const value = fields[key];
  if (hasStrayCharacter(key)) {
    const message = `the key ${renderFlow(key)} has spaces or invisible characters at its ends`;
    const write = { [removeStrayCharacters(key)]: value };
    const code = 'filter/stray-character';
    return { ...about, code, message, remedy: { write, hint: 'write the key without them' } };
  }
  if (isRoot && isAboutHeaders(key, value)) {
    const message = `${renderFlow(key)} names a field of the body: a payload filter does not see the request's headers`;
    const hint = 'write headers beside payload, as in headers: { X-GitHub-Event: [push] }';
    return { ...about, code: 'filter/header', message, remedy: { hint } };
  }
  const steps = splitPath(key, isRoot);
  if (!steps) return undefined;
  const message = `${renderFlow(key)} is the name of one field, not a path`;
  return { ...about, code: 'filter/path-as-key', message, remedy: nest(steps, value, fields) };
}

function nest([first, ...rest]: readonly string[], value: unknown, fields: Fields) {
  const hint =
    'write nested objects instead of a path; an array needs no index, because one matching element is enough';
  if (first === undefined) return { hint };
  const inner = rest.reduceRight((below: unknown, step) => ({ [step]: below }), value);
  if (!Object.hasOwn(fields, first)) return { write: { [first]: inner }, hint };
  // A second key of that name would be a duplicate.
  const where = ` inside ${renderFlow(first)}`;
  return { hint, ...(isObject(inner) && rest.length > 0 && { write: inner, where }) };
}

const identifier = String.raw`[A-Za-z_$@][\w$-]*`;
// A step into a path: .name, ?.name, ->name, .*, .0, [0], [*], [], ["name"].
const step = String.raw`(?:(?:\??\.|->)(?:${identifier}|\*|\d+)|\[[^\]]*\])`;
const dottedPath = new RegExp(`^${identifier}${step}+$`);
// A path that names its root ($, @ or jq's dot), or is a JSON Pointer (RFC 6901).
const rootedPath = new RegExp(`^(?:[$@]${step}*|\\.${identifier}${step}*)$`);
const pointer = /^(?:\/[\w~-]+)+$/;
// An index, or a wildcard, that stands alone.
const elementStep = /^(?:\d{1,2}|\*|\*\*|\[(?:\d*|\*)\])$/;
// A name in reverse domain notation, such as a label of a container image.
const reverseDomain = /^(?:com|org|net|io|dev)\./;
// What most keys are, so that they need no other test.
const plainName = /^[A-Za-z_][\w-]*$/;
const expression = /^\$?\{\{?\s*(.*?)\s*\}?\}$/;

/** The names in a key that is written as a path, without the steps into arrays; undefined for other keys. */
function splitPath(written: string, isRoot: boolean): readonly string[] | undefined {
  if (plainName.test(written)) return undefined;
  const key = expression.exec(written)?.[1] ?? written;
  if (reverseDomain.test(key)) return undefined;
  const isVariable = isRoot && /^\$[A-Za-z_]\w*$/.test(key);
  const isPath = [dottedPath, rootedPath, elementStep, ...(isRoot ? [pointer] : [])].some(pattern =>
    pattern.test(key),
  );
  if (!isPath && !isVariable && key === written) return undefined;
  return key
    .replace(/^github\.event\./, '')
    .replace(/^[$@](?=\W|$)|^\$/, '')
    .split(/\?\.|->|[.[\]/'"]+/)
    .filter(step => step !== '' && !/^(?:-?\d+|\*+)$/.test(step));
}

// Names of request headers, in lowercase, that are no usual names of fields.
const headerName = /^(?:x-[a-z0-9-]+|content-type|content-length|user-agent|[a-z0-9]+-signature)$/i;

function isAboutHeaders(key: string, value: unknown): boolean {
  if (headerName.test(key)) return true;
  if (!/^(?:http_?|request_?)?headers?$/i.test(key)) return false;
  return (
    isObject(value) &&
    !hasOperator(value) &&
    Object.keys(value).some(name => name.includes('-') || /^(?:host|authorization)$/i.test(name))
  );
}
