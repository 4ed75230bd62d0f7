import { isUtf8 } from 'node:buffer';
import type { CST, Pair, Scalar, YAMLMap } from 'yaml';
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
} from 'yaml';
import { bounded, type Diagnostic, type DiagnosticCode, type Range } from '../diagnostics.ts';
import { syntaxProblems } from './yaml-syntax-problems.ts';
import { definitionDepthMax, survey } from './yaml-tokens.ts';

/** @limit Largest definition file, in bytes: a parser's work grows with its input, and real definitions are under 1 KiB. */
export const definitionBytesMax = 64 * 1024;

/** A YAML file as plain JSON values, with the place in the text of each of them. */
export interface YamlSource {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  /** Of the value at the path, or of the nearest collection around it where there is none. */
  readonly rangeOfValue: (path: readonly PropertyKey[]) => Range;
  /** Of the key that the path ends in. */
  readonly rangeOfKey: (path: readonly PropertyKey[]) => Range;
}

export type ParsedYaml =
  | { readonly ok: true; readonly source: YamlSource }
  | { readonly ok: false; readonly text: string; readonly diagnostics: readonly Diagnostic[] };

// A broken line makes the parser report many that follow from it.
const syntaxErrorsMax = 10;

/**
 * Reads the JSON-like part of YAML 1.2 that definitions are written in: one document, plain keys, no anchors,
 * aliases or tags. Bounds come before anything that recurses or grows: bytes before parsing, nesting before
 * composing (the concrete syntax parser keeps its own stack, the composer recurses).
 */
export function parseYaml(file: string, bytes: Uint8Array): ParsedYaml {
  if (bytes.length > definitionBytesMax) {
    const message = `the file is larger than ${definitionBytesMax} bytes`;
    const hint = 'a definition has a few lines: leave out what is none of it';
    return {
      ok: false,
      text: '',
      diagnostics: [{ code: 'yaml/too-large', severity: 'error', message, file, hint }],
    };
  }
  const { text, invalidAt } = decodeUtf8(bytes);
  const lines = new LineCounter();
  const report = reporter(file, lines);
  const one = (diagnostic: Diagnostic): ParsedYaml => ({ ok: false, text, diagnostics: [diagnostic] });
  if (invalidAt !== undefined) {
    return one(report.encoding(text, invalidAt, 'the file is not valid UTF-8', 'save it as UTF-8'));
  }
  const control = controlCharacter.exec(text);
  if (control) return one(report.encoding(text, control.index, controlMessage(control[0]), controlHint));

  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const directive = tokens.find(token => token.type === 'directive');
  if (directive) {
    const end = directive.offset + directive.source.length;
    return one(report.at(directive.offset, end, 'yaml/directive', directiveMessage, 'remove it'));
  }
  const { tooDeepAt: deep, properties } = survey(tokens);
  if (deep !== undefined) return one(report.at(deep, deep + 1, 'yaml/too-deep', deepMessage, deepHint));
  const composer = new Composer({
    keepSourceTokens: false,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const [document, second] = composer.compose(tokens, true, text.length);
  if (document === undefined) throw new Error('the composer was told to make a document of an empty stream');
  if (second) {
    const [start] = second.range;
    const message = 'a second document begins here';
    return one(
      report.at(start, start + 3, 'yaml/multiple-documents', message, 'put it in a file of its own'),
    );
  }
  if (document.errors.length > 0) {
    const problems = syntaxProblems(text, document).map(({ start, end, message, hint }) => {
      return report.at(start, end, 'yaml/syntax', message, hint);
    });
    return { ok: false, text, diagnostics: firstOfEachLine(problems).slice(0, syntaxErrorsMax) };
  }
  return plainValue(file, text, document, properties, report);
}

/** What follows on the same line mostly follows from the first. */
function firstOfEachLine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const lines = Map.groupBy(diagnostics, ({ range }) => range?.start.line);
  return [...lines.values()].flatMap(([first]) => first ?? []);
}

function plainValue(
  file: string,
  text: string,
  document: Document.Parsed,
  properties: readonly CST.SourceToken[],
  report: Reporter,
): ParsedYaml {
  const diagnostics = properties.map(token => propertyProblem(token, report));
  const problem = (node: unknown, code: DiagnosticCode, message: string, hint: string) => {
    diagnostics.push(report.at(...span(node), code, message, hint));
  };
  const value = toPlain(document.contents, problem);
  if (diagnostics.length > 0) return { ok: false, text, diagnostics };
  const range = (node: unknown) => report.range(...span(node));
  return {
    ok: true,
    source: {
      file,
      text,
      value,
      rangeOfValue: path => range(find(document.contents, path).value),
      rangeOfKey: path => range(find(document.contents, path).key),
    },
  };
}

function propertyProblem({ type, offset, source }: CST.SourceToken, report: Reporter): Diagnostic {
  const [code, hint] =
    type === 'anchor'
      ? (['yaml/alias', 'remove it and write values out'] as const)
      : (['yaml/tag', 'remove it; quote the value if it is to be a string'] as const);
  return report.at(offset, offset + source.length, code, `the ${type} ${source} is not allowed`, hint);
}

type Problem = (node: unknown, code: DiagnosticCode, message: string, hint: string) => void;

function toPlain(node: unknown, problem: Problem): unknown {
  if (isAlias(node)) {
    problem(node, 'yaml/alias', `the alias *${node.source} is not allowed`, 'write the value out');
    return undefined;
  }
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map(item => toPlain(item, problem));
  return isMap(node) ? toObject(node, problem) : null;
}

function toObject(map: YAMLMap, problem: Problem): object {
  const seen = new Set<string>();
  const entries = map.items.map((pair): [string, unknown] => {
    const key = plainKey(pair, problem);
    if (key !== undefined && seen.has(key)) {
      problem(pair.key, 'yaml/duplicate-key', `the key "${key}" stands twice`, 'keep one of the two');
    }
    seen.add(key ?? '');
    return [key ?? '', toPlain(pair.value, problem)];
  });
  // fromEntries defines own properties, so a key named __proto__ stays an ordinary one.
  return Object.fromEntries(entries);
}

function plainKey(pair: Pair, problem: Problem): string | undefined {
  const { key } = pair;
  if (isScalar(key) && typeof key.value === 'string') return key.value;
  problem(key, 'yaml/key', 'a key must be a plain string', 'put the key in quotes');
  return undefined;
}

function find(contents: unknown, path: readonly PropertyKey[]): { key: unknown; value: unknown } {
  let found = { key: headOf(contents), value: contents };
  for (const step of path) {
    const { value } = found;
    if (isMap(value)) {
      // Only a scalar has a `value`. A file may have thousands of keys to look through for each of its mistakes.
      const pair = value.items.find(({ key }) => (key as Partial<Scalar> | null)?.value === step);
      if (!pair) break;
      found = { key: pair.key, value: pair.value ?? pair.key };
    } else if (isSeq(value) && typeof step === 'number') {
      const item = value.items[step];
      found = { key: headOf(item), value: item };
    } else break;
  }
  return found;
}

/** Where a collection begins: what is missing from it is shown there, not on all of its lines. */
function headOf(node: unknown): unknown {
  return isMap(node) ? (node.items[0]?.key ?? node) : node;
}

function span(node: unknown): [start: number, end: number] {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : [0, 0];
}

const deepMessage = `collections nest more than ${definitionDepthMax} deep`;
const deepHint = 'flatten the structure';

// Not printable in YAML 1.2 (production c-printable): C0 but tab and line ends, DEL, C1 but NEL.
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/;

const controlHint = 'remove it, or write it as an escape in a double-quoted string';

function controlMessage(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `the control character U+${code} is not allowed`;
}

// %YAML 1.1 would make `yes` a boolean and dates objects; %TAG has no use without tags.
const directiveMessage = 'directives are not allowed: the file is YAML 1.2';

/** The text, with a replacement character for what is not UTF-8, and the place of the first such. */
function decodeUtf8(bytes: Uint8Array): { text: string; invalidAt?: number } {
  const text = new TextDecoder().decode(bytes);
  return isUtf8(bytes) ? { text } : { text, invalidAt: text.indexOf('\ufffd') };
}

type Reporter = ReturnType<typeof reporter>;

function reporter(file: string, lines: LineCounter) {
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const range = (start: number, end: number): Range => ({
    start: position(start),
    end: position(Math.max(end, start)),
  });
  const at = (
    start: number,
    end: number,
    code: DiagnosticCode,
    message: string,
    hint?: string,
  ): Diagnostic => ({
    code,
    severity: 'error',
    message: bounded(message),
    file,
    range: range(start, end),
    hint,
  });
  /** Of text that has not been parsed, so that its lines are yet to be counted. */
  const encoding = (text: string, index: number, message: string, hint: string): Diagnostic => {
    lines.addNewLine(0);
    for (let i = text.indexOf('\n'); i >= 0 && i < index; i = text.indexOf('\n', i + 1))
      lines.addNewLine(i + 1);
    return at(index, index + 1, 'yaml/encoding', message, hint);
  };
  return { at, range, encoding };
}
