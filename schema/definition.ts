import { z } from 'zod';
import type { Diagnostic, DiagnosticCode, Range } from './diagnostics.ts';
import { didYouMean, listOf } from './suggestion.ts';
import { parseYaml, type YamlSource } from './yaml-source.ts';

/** What became of a definition file: the definition, or the errors that prevent it; its text for code frames. */
export interface ParsedFile<T> {
  readonly definition: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly text: string;
}

/** Parses and checks a definition file against its shape. Every mistake is reported, none is thrown. */
export function parseDefinition<T>(shape: z.ZodType<T>, file: string, bytes: Uint8Array): ParsedFile<T> {
  const yaml = parseYaml(file, bytes);
  if (!yaml.ok) return { definition: undefined, diagnostics: yaml.diagnostics, text: yaml.text };
  const { source } = yaml;
  const result = shape.safeParse(source.value);
  if (result.success) return { definition: result.data, diagnostics: [], text: source.text };
  const diagnostics = result.error.issues.flatMap(issue => toDiagnostics(issue, shape, source));
  return { definition: undefined, diagnostics, text: source.text };
}

/** What a refinement reports through zod: our own code and hint beside zod's message and path. */
export interface ProblemParams {
  readonly code: DiagnosticCode;
  readonly hint?: string;
  /** The key at the path is wrong rather than its value. */
  readonly atKey?: boolean;
}

/** Reports a mistake from inside a zod refinement. */
export function addProblem(
  context: z.RefinementCtx,
  path: PropertyKey[],
  message: string,
  params: ProblemParams,
): void {
  context.addIssue({ code: 'custom', path, message, params: problem(params) });
}

/** The `params` of a zod refinement that reports a mistake of ours. */
export function problem(params: ProblemParams): Record<string, unknown> {
  return { ...params };
}

function toDiagnostics(issue: z.core.$ZodIssue, shape: z.ZodType, source: YamlSource): Diagnostic[] {
  const error = (range: Range, code: DiagnosticCode, message: string, hint?: string): Diagnostic => ({
    code,
    severity: 'error',
    message,
    file: source.file,
    range,
    hint,
  });
  const key = issue.path.at(-1);
  const subject = key === undefined ? 'the file' : typeof key === 'number' ? 'the item' : String(key);
  const here = source.rangeOfValue(issue.path);

  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(shape, issue.path);
      return issue.keys.map(unknown =>
        error(
          source.rangeOfKey([...issue.path, unknown]),
          'definition/unknown-key',
          `unknown key "${unknown}"`,
          didYouMean(unknown, known) ?? `known here: ${listOf(known)}`,
        ),
      );
    }
    case 'invalid_type': {
      const value = valueAt(source.value, issue.path);
      if (value === undefined) {
        const place = source.rangeOfKey(issue.path);
        return [error(place, 'definition/missing-key', `the key "${subject}" is missing`, `add ${subject}:`)];
      }
      const message = `${subject} must be ${typeNames[issue.expected] ?? issue.expected}, not ${typeOf(value)}`;
      return [error(here, 'definition/type', message, typeHint(issue.expected, value))];
    }
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const value = valueAt(source.value, issue.path);
      if (value === undefined) {
        const place = source.rangeOfKey(issue.path);
        const hint = `add ${subject}: ${listOf(allowed)}`;
        return [error(place, 'definition/missing-key', `the key "${subject}" is missing`, hint)];
      }
      const hint =
        (typeof value === 'string' ? didYouMean(value, allowed) : undefined) ?? `allowed: ${listOf(allowed)}`;
      return [error(here, 'definition/value', `${subject} cannot be ${display(value)}`, hint)];
    }
    case 'invalid_union':
      return closestBranch(issue.errors).flatMap(inner =>
        toDiagnostics({ ...inner, path: [...issue.path, ...inner.path] }, shape, source),
      );
    case 'custom': {
      const { code = 'definition/value', hint, atKey } = (issue.params ?? {}) as Partial<ProblemParams>;
      const place = atKey ? source.rangeOfKey(issue.path) : here;
      return [error(place, code, issue.message, hint)];
    }
    default:
      return [error(here, 'definition/value', `${subject}: ${issue.message}`)];
  }
}

/** Of a union's branches the one that the value was meant for: its complaints are about parts, not the whole. */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const isAboutType = (issue: z.core.$ZodIssue) => issue.path.length === 0 && issue.code === 'invalid_type';
  return branches.find(issues => !issues.some(isAboutType)) ?? branches[0] ?? [];
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list',
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
};

function typeOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  return typeof value === 'number' ? `the number ${value}` : `the string ${display(value)}`;
}

function typeHint(expected: string, value: unknown): string | undefined {
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')) {
    return `put it in quotes: "${value}"`;
  }
  if (expected === 'boolean' && typeof value === 'string' && /^(yes|on|no|off)$/i.test(value)) {
    return `write ${/^(yes|on)$/i.test(value) ? 'true' : 'false'}: YAML 1.2 reads ${value} as a string`;
  }
  if (expected === 'array') return 'write it as a list: [ … ]';
  if (value === null && expected !== 'object') return 'give it a value, or remove the key';
  return undefined;
}

function display(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}

/** The keys that the shape knows at a path: what a misspelt one is compared with. */
function keysAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const [step, ...rest] = path;
  if (shape instanceof z.ZodObject) {
    if (step === undefined) return Object.keys(shape.shape);
    const inner: z.core.$ZodType | undefined = shape.shape[String(step)];
    return inner ? keysAt(inner, rest) : [];
  }
  if (shape instanceof z.ZodArray) return keysAt(shape.element, rest);
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodDefault) return keysAt(shape.unwrap(), path);
  if (shape instanceof z.ZodPipe) return keysAt(shape.in, path);
  if (shape instanceof z.ZodUnion) return shape.options.flatMap(option => keysAt(option, path));
  return [];
}
