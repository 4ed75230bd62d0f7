import type { RunControl } from '../../schema/definitions/automation-definition.ts';
import { findPathMistake } from '../../schema/field-path.ts';
import { parseDurationMs } from '../../schema/time-units.ts';

/** The JSON Pointers of all keys in a part of a definition, by which the API names mistakes. */
type Pointer<Part> = {
  [Key in keyof Part & string]-?: NonNullable<Part[Key]> extends string | number | readonly unknown[]
    ? `/${Key}`
    : `/${Key}${Pointer<NonNullable<Part[Key]>>}`;
}[keyof Part & string];

/** The JSON Pointer of a key that controls runs. */
export type RunPointer = Pointer<RunControl>;

/** The keys that control runs, each as the text in its field; `''` if the automation does not have the key. */
export type RunDraft = Readonly<Record<RunPointer, string>>;

/** How the text of each field is read. A key without a field does not compile. */
const kinds: Readonly<Record<RunPointer, 'name' | 'names' | 'count' | 'time' | 'path'>> = {
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
  '/debounce/for': 'time',
  '/debounce/key': 'path',
  '/debounce/atMost': 'time',
  '/notify': 'names',
  '/runsPerHour': 'count',
};
const pointers = Object.keys(kinds) as readonly RunPointer[];

export function toRunDraft(keys: RunControl): RunDraft {
  const texts = pointers.map(pointer => {
    const [key, inner] = split(pointer);
    const value = (keys as Record<string, unknown>)[key];
    const shown = inner === undefined ? value : (value as Record<string, unknown> | undefined)?.[inner];
    if (!Array.isArray(shown)) return [pointer, String(shown ?? '')];
    // The choices of notify are sorted.
    return [pointer, (key === 'notify' ? shown.toSorted() : shown).join(', ')];
  });
  return Object.fromEntries(texts);
}

/** Whether an automation has a key that controls its runs. */
export function hasRunKeys(draft: RunDraft): boolean {
  return pointers.some(pointer => draft[pointer] !== '');
}

/** Reads the keys from their fields; undefined while one has a mistake that `findRunMistake` finds. */
export function parseRunDraft(draft: RunDraft): RunControl | undefined {
  if (pointers.some(pointer => findRunMistake(pointer, draft[pointer]))) return undefined;
  const keys: Record<string, unknown> = {};
  for (const pointer of pointers) {
    const text = draft[pointer].trim();
    if (text === '') continue;
    const [key, inner] = split(pointer);
    const value = parseText(pointer, text);
    keys[key] = inner === undefined ? value : { ...(keys[key] as object | undefined), [inner]: value };
  }
  // The API checks what the keys say together.
  return keys as RunControl;
}

function split(pointer: RunPointer): [key: string, inner?: string] {
  return pointer.slice(1).split('/') as [string, string?];
}

function parseText(pointer: RunPointer, text: string): string | number | readonly string[] {
  const kind = kinds[pointer];
  if (kind === 'count') return Number(text);
  return kind === 'names' ? text.split(',').map(name => name.trim()) : text;
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
