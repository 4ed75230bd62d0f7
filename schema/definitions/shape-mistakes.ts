import type { z } from 'zod';
import {
  type Diagnostic,
  type DiagnosticCode,
  describeOthers,
  type Severity,
  truncate,
} from '../diagnostics.ts';
import { readField } from '../field-path.ts';
import { explainMisplaced, suggestCondition } from '../filters/warnings/find-filter-warnings.ts';
import { didYouMean, findNearest, joinWithOr } from '../text/suggestion.ts';
import type { MistakeParams } from './add-mistake.ts';
import type { ParsedSource } from './json-source.ts';
import { quoteText } from './quote-text.ts';
import {
  type Checked,
  findChoicesWith,
  findDescription,
  findExample,
  findKeys,
  findValues,
} from './shape-at.ts';

/** @limit Most mistakes reported of one file or request: a person corrects the first ones, and each costs a search for its place. */
const mistakesMax = 50;

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A diagnostic that has no place in a file yet. */
export interface Mistake {
  readonly code: DiagnosticCode;
  readonly path: Path;
  /** The key at the path is wrong, not its value. */
  readonly atKey?: boolean;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Turns zod's issues with a file into diagnostics for its author, who knows YAML and not zod. */
export function diagnoseShape(
  error: z.core.$ZodError,
  shape: z.core.$ZodType,
  source: Pick<ParsedSource, 'file' | 'value' | 'rangeOfKey' | 'rangeOfValue'>,
): Diagnostic[] {
  return placeMistakes(findMistakes(error, shape, source.value), 'error', source);
}

/** Finds the places of mistakes in a file. If there are too many, the last diagnostic counts the others. */
export function placeMistakes(
  mistakes: readonly Mistake[],
  severity: Severity,
  source: Pick<ParsedSource, 'file' | 'rangeOfKey' | 'rangeOfValue'>,
): Diagnostic[] {
  return shortenMistakes(mistakes).map(({ code, path, atKey, message, hint }) => ({
    code,
    severity,
    message: quoteText(message),
    file: source.file,
    range: atKey ? source.rangeOfKey(path) : source.rangeOfValue(path),
    ...(hint !== undefined && { hint: quoteText(hint) }),
  }));
}

function shortenMistakes(mistakes: readonly Mistake[]): readonly Mistake[] {
  // The one more counts the others.
  if (mistakes.length <= mistakesMax + 1) return mistakes;
  return [...mistakes.slice(0, mistakesMax), { ...describeOthers(mistakes.length - mistakesMax), path: [] }];
}

/**
 * Turns zod's issues with a value into mistakes. The value need not come from a file. If there are too many, the last
 * mistake counts the others.
 */
export function findMistakes(
  { issues }: z.core.$ZodError,
  shape: z.core.$ZodType,
  value: unknown,
): Mistake[] {
  const checked = { shape, value };
  const all = issues
    .flatMap(issue => flattenUnion(issue))
    .flatMap(splitKeys)
    .filter(isNarrowest);
  const others = all.length - mistakesMax;
  const flat = others > 0 ? all.slice(0, mistakesMax) : all;
  // A misspelt key is reported as unknown, so the key that was meant is not reported as missing as well.
  const misspelt = new Set(flat.flatMap(issue => findIntendedKeys(issue, checked)).map(formatPath));
  const mistakes = flat
    .filter(issue => readField(value, issue.path) !== undefined || !misspelt.has(formatPath(issue.path)))
    .flatMap(issue => toMistakes(issue, checked));
  return others > 0 ? [...mistakes, { ...describeOthers(others), path: [] }] : mistakes;
}

/** Makes one issue of each unknown key. */
function splitKeys(issue: Issue): Issue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map(key => ({ ...issue, keys: [key] })) : [issue];
}

/** Whether an issue is not about a number that exceeds a lower bound too, as one beyond whole numbers does. */
function isNarrowest(issue: Issue, _: number, all: readonly Issue[]): boolean {
  if (issue.code !== 'too_big') return true;
  const path = formatPath(issue.path);
  return !all.some(
    other => other.code === 'too_big' && other.maximum < issue.maximum && formatPath(other.path) === path,
  );
}

/** Replaces an issue about a union by the issues of the option that fits the value's type: they are more precise. */
function flattenUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const isAboutType = (inner: Issue) => inner.path.length === 0 && inner.code === 'invalid_type';
  const option = issue.errors.find(issues => !issues.some(isAboutType));
  if (!option) return [issue];
  return option.flatMap(inner => flattenUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Finds the paths of the known keys that the author probably meant by misspelt ones. */
function findIntendedKeys(issue: Issue, checked: Checked): Path[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const known = findKeys(checked, issue.path);
  return issue.keys.flatMap(key => {
    const intended = findNearest(key.trim(), known);
    return intended === undefined ? [] : [[...issue.path, intended]];
  });
}

function toMistakes(issue: Issue, checked: Checked): Mistake[] {
  const { path } = issue;
  if (issue.code === 'custom') {
    const params = (issue.params ?? {}) as Partial<MistakeParams>;
    const { code = 'definition/value', hint, atKey = false, misplaced, header } = params;
    const explained = misplaced && explainMisplaced(misplaced);
    const suggested = header && suggestCondition(header.fields);
    const better = suggested && { hint: `write ${header.name}: ${suggested}` };
    return [{ code, atKey, message: issue.message, hint, ...explained, ...better, path }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const message = `unknown key "${key}"`;
      const hint = unknownKeyHint(key, path, checked);
      return { code: 'definition/unknown-key', path: [...path, key], atKey: true, message, hint };
    });
  }
  const value = readField(checked.value, path);
  const subject = nameSubject(path);
  if (value === undefined) {
    const message = `the key "${subject}" is missing`;
    const hint = missingHint(subject, path, checked);
    return [{ code: 'definition/missing-key', path, atKey: true, message, hint }];
  }
  const { code, message, hint } = toWrongValue(issue, subject, value, checked);
  return [{ code, path, message, hint: hint ?? findDescription(checked, path) }];
}

function nameSubject(path: Path): string {
  const key = path.at(-1);
  if (key === undefined) return 'the file';
  return typeof key === 'number' ? 'the item' : String(key);
}

function unknownKeyHint(key: string, path: Path, checked: Checked): string {
  const known = findKeys(checked, path);
  if (known.includes(key.trim())) return `remove the invisible character beside it: type ${key.trim()} again`;
  const choices = findChoicesWith(checked, path, key);
  if (choices.length > 0) return `it needs ${joinWithOr(choices)}`;
  const inner = known.find(other => findKeys(checked, [...path, other]).includes(key));
  // Beside the file's own keys, one of another product may be meant.
  const isNear = path.length > 0 || readField(checked.value, [...path, inner ?? '']) !== undefined;
  if (inner !== undefined && isNear) return `it belongs inside ${inner}: indent it below that`;
  const outer = path.length > 0 ? findKeys(checked, path.slice(0, -1)) : [];
  if (outer.includes(key)) return `it belongs beside ${String(path.at(-1))}, not inside it: indent it less`;
  return didYouMean(key, known) ?? `known keys: ${known.join(', ')}`;
}

function missingHint(subject: string, path: Path, checked: Checked): string {
  const values = findValues(checked, path);
  if (values.length > 0) return `add ${subject}: ${joinWithOr(values)}`;
  const description = findDescription(checked, path);
  return description === undefined ? `add ${subject}:` : `add ${subject}: ${description}`;
}

type WrongValue = Pick<Mistake, 'code' | 'message' | 'hint'>;

function toWrongValue(issue: Issue, subject: string, value: unknown, checked: Checked): WrongValue {
  const invalid = (hint: string): WrongValue => {
    return { code: 'definition/value', message: `${subject} cannot be ${display(value)}`, hint };
  };
  switch (issue.code) {
    case 'invalid_type': {
      const message = `${subject} must be ${nameType(issue.expected)}, not ${describeType(value)}`;
      const known = findKeys(checked, issue.path);
      const example = findExample(checked, issue.path);
      return { code: 'definition/type', message, hint: typeHint(issue.expected, value, known, example) };
    }
    case 'invalid_value':
      return invalid(choiceHint(value, issue.values.map(String)));
    case 'invalid_union': {
      // If the discriminator of a union has an unknown value, zod lists no options.
      if (issue.errors.length === 0) return invalid(choiceHint(value, findValues(checked, issue.path)));
      const types = issue.errors
        .flat()
        .flatMap(inner => (inner.code === 'invalid_type' ? [nameType(inner.expected)] : []));
      const message = `${subject} must be ${joinWithOr(types)}, not ${describeType(value)}`;
      const hint = Array.isArray(value) ? stringHint(value) : undefined;
      return { code: 'definition/type', message, hint };
    }
    case 'too_small':
    case 'too_big':
      return { code: 'definition/value', message: describeBound(issue, subject, value) };
    case 'invalid_format':
      return invalid(issue.format === 'url' ? 'write a URL with http:// or https://' : issue.message);
    default:
      return { code: 'definition/value', message: `${subject}: ${issue.message}` };
  }
}

function choiceHint(value: unknown, allowed: readonly string[]): string {
  const suggestion = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  return suggestion ?? `allowed: ${joinWithOr(allowed)}`;
}

/** Says which bound a number or a list breaks. */
function describeBound(
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  subject: string,
  value: unknown,
): string {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const [inclusive, exclusive] =
    issue.code === 'too_small' ? ['at least', 'more than'] : ['at most', 'less than'];
  const bound = `${issue.inclusive === false ? exclusive : inclusive} ${limit}`;
  if (!Array.isArray(value)) return `${subject} must be ${bound}, not ${display(value)}`;
  return `${subject} must have ${bound} ${limit === 1 ? 'item' : 'items'}, not ${value.length}`;
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

function nameType(expected: string): string {
  return typeNames[expected] ?? expected;
}

function describeType(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  return typeof value === 'number' ? `the number ${value}` : `the string ${display(value)}`;
}

/** Says how to correct a value of the wrong type. `known`: the keys of the expected mapping. */
function typeHint(
  expected: string,
  value: unknown,
  known: readonly string[],
  example: string | undefined,
): string | undefined {
  if (typeof value === 'string' && /^[\w-]+:\S/.test(value) && expected === 'object') {
    return 'write a space after the colon';
  }
  if (expected === 'object' && known.length > 0)
    return `write lines of key: value; the keys are ${known.join(', ')}`;
  if (expected === 'array') return listHint(value);
  if (value === null) return 'give it a value, or remove the key';
  if (expected === 'string') return example === undefined ? stringHint(value) : `write it as in ${example}`;
  if (expected === 'boolean') return booleanHint(value);
  return typeof value === 'string' && /^\d/.test(value)
    ? 'write only digits, without quotes or a unit'
    : undefined;
}

function listHint(value: unknown): string {
  if (typeof value === 'object') return 'start each item with - and a space, or write [ … ]';
  return `write it as a list: [${display(value)}]`;
}

function stringHint(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return 'put it in quotes';
  if (!Array.isArray(value)) return undefined;
  return value.length === 1 && typeof value[0] === 'string' ? 'write it without the list' : undefined;
}

function booleanHint(value: unknown): string {
  if (value === 'true' || value === 'false') return `write it without quotes: ${value}`;
  if (typeof value !== 'string' || !/^(yes|on|no|off)$/i.test(value)) return 'write true or false';
  return `write ${/^(yes|on)$/i.test(value) ? 'true' : 'false'}: YAML 1.2 reads ${value} as a string`;
}

/** @limit Most characters of a wrong value that a message quotes: enough to recognise it. */
const valueCharsMax = 60;

function display(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'nothing', valueCharsMax);
}

function formatPath(path: Path): string {
  return JSON.stringify(path.map(String));
}
