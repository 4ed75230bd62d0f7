import type { RunControl } from '../../schema/definitions/automation-definition.ts';
import { findPathMistake, readField } from '../../schema/field-path.ts';
import { isObject } from '../../schema/filters/clause.ts';
import { parseDurationMs } from '../../schema/time-units.ts';

/** The JSON Pointers of all keys in a part of a definition, by which the API names mistakes. */
type Pointer<Part> = {
  [Key in keyof Part & string]-?: NonNullable<Part[Key]> extends
    | string
    | number
    | boolean
    | readonly unknown[]
    ? `/${Key}`
    : `/${Key}${Pointer<NonNullable<Part[Key]>>}`;
}[keyof Part & string];

/** The JSON Pointer of a key that controls runs. */
export type RunPointer = Pointer<RunControl>;

/** The keys that control runs, each as the text in its field; `''` if the automation does not have the key. */
export type RunDraft = Readonly<Record<RunPointer, string>>;

/** How the text of each field is read. A key without a field does not compile. */
const kinds: Readonly<Record<RunPointer, 'name' | 'names' | 'count' | 'time' | 'path' | 'switch'>> = {
  '/runner': 'name',
  '/repository': 'name',
  '/requires': 'names',
  '/timeLimit': 'time',
  '/attempts': 'count',
  '/backOff/first': 'time',
  '/backOff/max': 'time',
  '/concurrency': 'count',
  '/concurrencyKey': 'path',
  '/order': 'path',
  '/onFailure': 'name',
  '/onlyLatest': 'switch',
  '/cancelRunning': 'switch',
  '/debounce/for': 'time',
  '/debounce/key': 'path',
  '/debounce/atMost': 'time',
  '/notify': 'names',
  '/runsPerHour': 'count',
};
const pointers = Object.keys(kinds) as readonly RunPointer[];

/** Reads the keys of a definition, which may be wrong: what is no such key, or has no text, is `''`. */
export function toRunDraft(definition: unknown): RunDraft {
  const texts = pointers.map(pointer => {
    const value = readField(definition, pathOfRunKey(pointer));
    if (!Array.isArray(value)) return [pointer, isObject(value) ? '' : String(value ?? '')];
    // The choices of notify are sorted.
    return [pointer, (pointer === '/notify' ? value.toSorted() : value).join(', ')];
  });
  return Object.fromEntries(texts);
}

/** The path of a key in the definition. */
export function pathOfRunKey(pointer: RunPointer): readonly string[] {
  return pointer.slice(1).split('/');
}

/** Reads the text of a field as the value of its key. Only for a text in which `findRunMistake` finds nothing. */
export function parseRunText(
  pointer: RunPointer,
  typed: string,
): string | number | boolean | readonly string[] {
  const text = typed.trim();
  const kind = kinds[pointer];
  if (kind === 'count') return Number(text);
  if (kind === 'switch') return text === 'true';
  return kind === 'names' ? text.split(',').map(name => name.trim()) : text;
}

/** Whether a field takes the path of a field of the payload. */
export function isPathKey(pointer: RunPointer): boolean {
  return kinds[pointer] === 'path';
}

/** Says what is wrong with the text of a field, as far as the field shows; undefined if it is empty. */
export function findRunMistake(pointer: RunPointer, typed: string): string | undefined {
  const text = typed.trim();
  const kind = kinds[pointer];
  if (text === '') return undefined;
  if (kind === 'time' && parseDurationMs(text) === undefined)
    return `"${text}" is not a time: write it as in 30s, 5m or 2h`;
  if (kind === 'count' && !/^[1-9]\d{0,8}$/.test(text))
    return `"${text}" is not a number of runs or attempts: write digits, as in 3`;
  const wrongPath = kind === 'path' ? findPathMistake(text) : undefined;
  return wrongPath && `${wrongPath.message}: ${wrongPath.hint}`;
}
