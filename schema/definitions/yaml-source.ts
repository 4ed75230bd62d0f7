import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import type { Diagnostic, DiagnosticCode, Range } from '../diagnostics.ts';
import { type ChangedText, findChangedTexts } from './changed-text.ts';
import { countLines, type ParsedSource } from './json-source.ts';
import { quoteText } from './quote-text.ts';
import {
  definitionDepthMax,
  findSyntaxMistakes,
  surveyTokens,
  templateMistake,
} from './yaml-syntax-mistakes.ts';

/** @limit Largest definition file, in bytes (64 KiB): a parser's work grows with its input, and real definitions are under 1 KiB. */
export const definitionBytesMax = 64 * 1024;

export interface YamlSource extends ParsedSource {
  /** The texts without quotes that YAML changed, with their places. */
  readonly changedTexts: readonly (ChangedText & { readonly range: Range })[];
}

export type ParsedYaml =
  | { readonly ok: true; readonly source: YamlSource }
  | { readonly ok: false; readonly text: string; readonly diagnostics: readonly Diagnostic[] };

/** @limit Most syntax errors reported of one file: one broken line makes the parser report many others. */
const syntaxErrorsMax = 10;

/**
 * Parses the JSON-like subset of YAML 1.2 in which definitions are written: one document, plain keys, no anchors,
 * aliases or tags. The size is checked before parsing. The nesting is checked before composing, because the composer
 * recurses; the parser mostly keeps its own stack.
 */
export function parseYaml(file: string, bytes: Uint8Array): ParsedYaml {
  if (bytes.length > definitionBytesMax)
    return { ok: false, text: '', diagnostics: [diagnoseTooLarge(file)] };
  const { text, mistake } = decodeText(bytes);
  const report = reporter(file, countLines(text));
  const fail = (diagnostic: Diagnostic): ParsedYaml => ({ ok: false, text, diagnostics: [diagnostic] });
  if (mistake) return fail(report.encoding(mistake));

  const tooDeep = (offset: number) =>
    fail(report.at(offset, offset + 1, 'yaml/too-deep', deepMessage, deepHint));
  const parser = new Parser();
  const tokens = parseTokens(parser, text);
  if (!tokens) return tooDeep(findDeepest(parser));
  const directive = tokens.find(token => token.type === 'directive');
  if (directive) {
    const end = directive.offset + directive.source.length;
    return fail(report.at(directive.offset, end, 'yaml/directive', directiveMessage, 'remove it'));
  }
  const { tooDeepAt: deep, properties } = surveyTokens(tokens);
  if (deep !== undefined) return tooDeep(deep);

  const composer = new Composer({ keepSourceTokens: false, prettyErrors: false, uniqueKeys: false });
  const [document, second] = composer.compose(tokens, true, text.length);
  if (document === undefined) throw new Error('the composer returned no document');
  if (second) {
    const [start] = second.range;
    return fail(report.at(start, start + 3, 'yaml/multiple-documents', secondMessage, secondHint));
  }
  if (document.errors.length > 0) {
    const mistakes = findSyntaxMistakes(text, document).map(({ start, end, message, hint }) => {
      return report.at(start, end, 'yaml/syntax', message, hint);
    });
    return { ok: false, text, diagnostics: firstOfEachLine(mistakes).slice(0, syntaxErrorsMax) };
  }
  return toPlainSource(file, text, document, properties, report);
}

/** Returns undefined if thousands of collections end at one place: only there, the parser recurses too. */
function parseTokens(parser: Parser, text: string): CST.Token[] | undefined {
  try {
    return [...parser.parse(text)];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Finds a collection that nests too deep on the parser's stack, which starts with the document. */
function findDeepest({ stack }: Parser): number {
  return (stack[definitionDepthMax + 1] ?? stack.at(-1))?.offset ?? 0;
}

/** The diagnostic for a definition file beyond `definitionBytesMax`. */
function diagnoseTooLarge(file: string): Diagnostic {
  const message = `the file is too large for a definition (${definitionBytesMax / 1024} KiB at most)`;
  return {
    code: 'yaml/too-large',
    severity: 'error',
    message,
    file,
    hint: 'check that it is the right file',
  };
}

/** Later errors on a line are mostly consequences of the first. */
function firstOfEachLine(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const lines = Map.groupBy(diagnostics, ({ range }) => range?.start.line);
  return [...lines.values()].flatMap(([first]) => first ?? []);
}

function toPlainSource(
  file: string,
  text: string,
  document: Document.Parsed,
  properties: readonly CST.SourceToken[],
  report: Reporter,
): ParsedYaml {
  const diagnostics = properties.map(token => diagnoseProperty(token, report));
  const complain: Complain = (node, code, message, hint) => {
    diagnostics.push(report.at(...span(node), code, message, hint));
  };
  const value = toPlain(document.contents, complain);
  if (diagnostics.length > 0) return { ok: false, text, diagnostics };
  const range = (node: unknown) => report.range(...span(node));
  return {
    ok: true,
    source: {
      file,
      text,
      value,
      rangeOfValue: path => range(findNode(document.contents, path).value),
      rangeOfKey: path => range(findNode(document.contents, path).key),
      changedTexts: findChangedTexts(document.contents, text).map(change => {
        return { ...change, range: report.range(...change.span) };
      }),
    },
  };
}

function diagnoseProperty({ type, offset, source }: CST.SourceToken, report: Reporter): Diagnostic {
  const [code, hint] =
    type === 'anchor'
      ? (['yaml/alias', 'remove it, and write out the value at each place'] as const)
      : (['yaml/tag', 'remove it, and put the value in quotes if it should be a string'] as const);
  return report.at(offset, offset + source.length, code, `the ${type} ${source} is not allowed`, hint);
}

type Complain = (node: unknown, code: DiagnosticCode, message: string, hint: string) => void;

function toPlain(node: unknown, complain: Complain): unknown {
  if (isAlias(node)) {
    complain(node, 'yaml/alias', `the alias *${node.source} is not allowed`, 'write out the value');
    return undefined;
  }
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map(item => toPlain(item, complain));
  return isMap(node) ? toObject(node, complain) : null;
}

function toObject(map: YAMLMap, complain: Complain): object {
  const seen = new Set<string>();
  const entries = map.items.map((pair): [string, unknown] => {
    const key = readKey(pair, complain);
    if (key !== undefined && seen.has(key)) {
      complain(pair.key, 'yaml/duplicate-key', `duplicate key "${key}"`, 'keep one of the two');
    }
    seen.add(key ?? '');
    return [key ?? '', toPlain(pair.value, complain)];
  });
  // fromEntries defines own properties, so a key named __proto__ stays an ordinary one.
  return Object.fromEntries(entries);
}

function readKey(pair: Pair, complain: Complain): string | undefined {
  const { key } = pair;
  if (isScalar(key) && typeof key.value === 'string') return key.value;
  if (isMap(key) && key.flow) complain(key, 'yaml/key', templateMistake.message, templateMistake.hint);
  else complain(key, 'yaml/key', 'a key must be a string', 'put the key in quotes');
  return undefined;
}

function findNode(contents: unknown, path: readonly PropertyKey[]): { key: unknown; value: unknown } {
  let found = { key: findStart(contents), value: contents };
  for (const step of path) {
    const { value } = found;
    if (isMap(value)) {
      // Saves the time of `isScalar`: only scalars have a `value`, and each mistake may search thousands of keys.
      const pair = value.items.find(({ key }) => (key as Partial<Scalar> | null)?.value === step);
      if (!pair) break;
      found = { key: pair.key, value: pair.value ?? pair.key };
    } else if (isSeq(value) && typeof step === 'number') {
      const item = value.items[step];
      found = { key: findStart(item), value: item };
    } else break;
  }
  return found;
}

/** Finds the start of a collection. A missing key is reported there, not on all lines of the collection. */
function findStart(node: unknown): unknown {
  return isMap(node) ? (node.items[0]?.key ?? node) : node;
}

function span(node: unknown): [start: number, end: number] {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : [0, 0];
}

const deepMessage = `lists and mappings nest more than ${definitionDepthMax} levels deep`;
const deepHint = 'flatten the structure';

const secondMessage = 'a second document starts here';
const secondHint = 'move it to a file of its own';

// Not printable in YAML 1.2 (production c-printable): C0 except tab and line ends, DEL, C1 except NEL.
// biome-ignore lint/suspicious/noControlCharactersInRegex: this looks for them
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/;

const controlHint = 'remove it, or write it as an escape in a double-quoted string';

function controlMessage(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `the control character U+${code} is not allowed`;
}

// %YAML 1.1 would make `yes` a boolean and dates objects; %TAG is useless without tags.
const directiveMessage = 'directives are not allowed, because every definition file is YAML 1.2';

const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

interface EncodingMistake {
  /** Where it is in the text. */
  readonly index: number;
  readonly message: string;
  readonly hint: string;
}

/** Decodes UTF-8, and finds invalid bytes, which become U+FFFD, or the first control character. */
export function decodeText(bytes: Uint8Array): { text: string; mistake?: EncodingMistake } {
  const text = utf8.decode(bytes);
  const invalidAt = text.indexOf('\ufffd');
  if (invalidAt !== -1 && !isUtf8(bytes))
    return {
      text,
      mistake: { index: invalidAt, message: 'the file is not valid UTF-8', hint: 'save it as UTF-8' },
    };
  const control = controlCharacter.exec(text);
  if (!control) return { text };
  return { text, mistake: { index: control.index, message: controlMessage(control[0]), hint: controlHint } };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
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
    message: quoteText(message),
    file,
    range: range(start, end),
    hint,
  });
  const encoding = ({ index, message, hint }: EncodingMistake): Diagnostic =>
    at(index, index + 1, 'yaml/encoding', message, hint);
  return { at, range, encoding };
}
