import type { z } from 'zod';
import { bounded, type Diagnostic, type DiagnosticCode } from '../diagnostics.ts';
import { didYouMean, listOf, nearest } from '../suggestion.ts';
import { descriptionAt, keysAt, valuesAt } from './shape-at.ts';
import type { YamlSource } from './yaml-source.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What a refinement reports through zod: our own code and hint beside zod's message and path. */
export interface ProblemParams {
  readonly code: DiagnosticCode;
  readonly hint?: string;
  /** The key at the path is wrong rather than its value. */
  readonly atKey?: boolean;
}

/** A mistake before it has a place. */
export interface Mistake {
  readonly code: DiagnosticCode;
  readonly path: Path;
  readonly atKey?: boolean;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What zod has against a value, in the words of its author, who knows YAML and not zod. */
export function shapeProblems(
  error: z.core.$ZodError,
  shape: z.core.$ZodType,
  source: Pick<YamlSource, 'file' | 'value' | 'rangeOfKey' | 'rangeOfValue'>,
): Diagnostic[] {
  return shapeMistakes(error, shape, source.value).map(({ code, path, atKey, message, hint }) => ({
    code,
    severity: 'error',
    message: bounded(message),
    file: source.file,
    range: atKey ? source.rangeOfKey(path) : source.rangeOfValue(path),
    ...(hint !== undefined && { hint: bounded(hint) }),
  }));
}

/** The same of a value that comes from no file. */
export function shapeMistakes(
  { issues }: z.core.$ZodError,
  shape: z.core.$ZodType,
  value: unknown,
): Mistake[] {
  const told = issues.flatMap(issue => branchOf(issue));
  const misspelt = new Set(told.flatMap(issue => keysMeant(issue, shape)).map(pathText));
  return told
    .filter(issue => valueAt(value, issue.path) !== undefined || !misspelt.has(pathText(issue.path)))
    .flatMap(issue => mistakes(issue, shape, value));
}

/** Of a union the complaints of the branch that the value was meant for: they are about parts, not the whole. */
function branchOf(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const isAboutType = (inner: Issue) => inner.path.length === 0 && inner.code === 'invalid_type';
  const branch = issue.errors.find(issues => !issues.some(isAboutType));
  if (!branch) return [issue];
  return branch.flatMap(inner => branchOf({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** The paths of known keys that unknown ones are taken for: such a key is misspelt, not missing as well. */
function keysMeant(issue: Issue, shape: z.core.$ZodType): Path[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const known = keysAt(shape, issue.path);
  return issue.keys.flatMap(key => {
    const meant = nearest(key.trim(), known);
    return meant === undefined ? [] : [[...issue.path, meant]];
  });
}

function mistakes(issue: Issue, shape: z.core.$ZodType, root: unknown): Mistake[] {
  const { path } = issue;
  if (issue.code === 'custom') {
    const { code = 'definition/value', hint, atKey = false } = (issue.params ?? {}) as Partial<ProblemParams>;
    return [{ code, path, atKey, message: issue.message, hint }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const hint = unknownKeyHint(key, path, shape);
      return {
        code: 'definition/unknown-key',
        path: [...path, key],
        atKey: true,
        message: `unknown key "${key}"`,
        hint,
      };
    });
  }
  const value = valueAt(root, path);
  const subject = subjectOf(path);
  if (value === undefined) {
    const hint = missingHint(subject, path, shape);
    return [
      { code: 'definition/missing-key', path, atKey: true, message: `the key "${subject}" is missing`, hint },
    ];
  }
  const { code, message, hint } = wrongValue(issue, subject, value, shape);
  return [{ code, path, message, hint: hint ?? descriptionAt(shape, path) }];
}

function subjectOf(path: Path): string {
  const key = path.at(-1);
  if (key === undefined) return 'the file';
  return typeof key === 'number' ? 'the item' : String(key);
}

function unknownKeyHint(key: string, path: Path, shape: z.core.$ZodType): string {
  const known = keysAt(shape, path);
  if (known.includes(key.trim()))
    return `there is an invisible character beside it: write ${key.trim()} anew`;
  const inner = known.find(other => keysAt(shape, [...path, other]).includes(key));
  if (inner !== undefined) return `it belongs into ${inner}: indent it below that`;
  const outer = path.length > 0 ? keysAt(shape, path.slice(0, -1)) : [];
  if (outer.includes(key)) return `it belongs beside ${String(path.at(-1))}, not into it: indent it less`;
  return didYouMean(key, known) ?? `known here: ${listOf(known)}`;
}

function missingHint(subject: string, path: Path, shape: z.core.$ZodType): string {
  const values = valuesAt(shape, path);
  if (values.length > 0) return `add ${subject}: ${listOf(values)}`;
  const description = descriptionAt(shape, path);
  return description === undefined ? `add ${subject}:` : `add ${subject}: ${description}`;
}

type Wrong = Pick<Mistake, 'code' | 'message' | 'hint'>;

function wrongValue(issue: Issue, subject: string, value: unknown, shape: z.core.$ZodType): Wrong {
  const refused = (hint: string): Wrong => {
    return { code: 'definition/value', message: `${subject} cannot be ${display(value)}`, hint };
  };
  switch (issue.code) {
    case 'invalid_type': {
      const message = `${subject} must be ${typeName(issue.expected)}, not ${typeOf(value)}`;
      const known = keysAt(shape, issue.path);
      return { code: 'definition/type', message, hint: typeHint(issue.expected, value, known) };
    }
    case 'invalid_value':
      return refused(choiceHint(value, issue.values.map(String)));
    case 'invalid_union': {
      // A union told apart by a key of which the value is none has no branches.
      if (issue.errors.length === 0) return refused(choiceHint(value, valuesAt(shape, issue.path)));
      const types = issue.errors
        .flat()
        .flatMap(inner => (inner.code === 'invalid_type' ? [typeName(inner.expected)] : []));
      return {
        code: 'definition/type',
        message: `${subject} must be ${listOf(types)}, not ${typeOf(value)}`,
        hint: Array.isArray(value) ? stringHint(value) : undefined,
      };
    }
    case 'too_small':
    case 'too_big':
      return { code: 'definition/value', ...beyond(issue, subject, value) };
    case 'invalid_format':
      return refused(issue.format === 'url' ? 'write a URL with http:// or https://' : issue.message);
    default:
      return { code: 'definition/value', message: `${subject}: ${issue.message}` };
  }
}

function choiceHint(value: unknown, allowed: readonly string[]): string {
  return (
    (typeof value === 'string' ? didYouMean(value, allowed) : undefined) ?? `allowed: ${listOf(allowed)}`
  );
}

/** Of numbers and lists; texts have rules of their own. */
function beyond(
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  subject: string,
  value: unknown,
): Pick<Mistake, 'message'> {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const side = issue.code === 'too_small' ? ['at least', 'more than'] : ['at most', 'less than'];
  const bound = `${issue.inclusive === false ? side[1] : side[0]} ${limit}`;
  if (Array.isArray(value))
    return {
      message: `${subject} must have ${bound} ${limit === 1 ? 'item' : 'items'}, and has ${value.length}`,
    };
  return { message: `${subject} must be ${bound}, and is ${display(value)}` };
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

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function typeOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  return typeof value === 'number' ? `the number ${value}` : `the string ${display(value)}`;
}

/** How to put a value of the wrong type right. `known` are the keys of the mapping that is expected. */
function typeHint(expected: string, value: unknown, known: readonly string[]): string | undefined {
  if (typeof value === 'string' && /^[\w-]+:\S/.test(value) && expected === 'object') {
    return 'write a space after the colon';
  }
  if (expected === 'object' && known.length > 0)
    return `write lines of key: value; the keys are ${known.join(', ')}`;
  if (expected === 'array') return listHint(value);
  if (value === null) return 'give it a value, or remove the key';
  if (expected === 'string') return stringHint(value);
  if (expected === 'boolean') return booleanHint(value);
  return typeof value === 'string' && /^\d/.test(value)
    ? 'write the digits alone: no quotes, no unit'
    : undefined;
}

function listHint(value: unknown): string {
  if (typeof value === 'object') return 'begin each item with - and a space, or write [ … ]';
  return `write it as a list: [${display(value)}]`;
}

function stringHint(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return `put it in quotes: "${value}"`;
  if (!Array.isArray(value)) return undefined;
  return value.length === 1 && typeof value[0] === 'string'
    ? `write it without the list: ${value[0]}`
    : undefined;
}

function booleanHint(value: unknown): string {
  if (value === 'true' || value === 'false') return `write it without quotes: ${value}`;
  if (typeof value !== 'string' || !/^(yes|on|no|off)$/i.test(value)) return 'write true or false';
  return `write ${/^(yes|on)$/i.test(value) ? 'true' : 'false'}: YAML 1.2 reads ${value} as a string`;
}

function display(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}

function pathText(path: Path): string {
  return JSON.stringify(path.map(String));
}
