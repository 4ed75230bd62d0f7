import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

/** The parts of a source file that rules about structure look at. */
export interface SourceFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** The specifiers of static imports, dynamic imports and type imports, as they are written. */
  readonly imports: readonly string[];
  /** The specifiers of those that run when the file is loaded: static ones, but for types. */
  readonly loads: readonly string[];
  /** Exported names, including types. */
  readonly exports: readonly string[];
  readonly functions: readonly SourceFunction[];
  /** The numbers of the lines on which JSX elements begin. */
  readonly elements: readonly number[];
  /** The names that the code uses: of variables, functions, types and properties. */
  readonly names: ReadonlySet<string>;
  /** The types that values are asserted to have with `as`. */
  readonly casts: readonly string[];
  /** The texts of string literals, and of templates without the values they insert. */
  readonly literals: readonly string[];
  /** The text without comments. */
  readonly code: string;
}

export interface SourceFunction {
  /** The number of its first line. */
  readonly line: number;
  /** Counts from the signature to the closing brace. */
  readonly lines: number;
}

const root = join(import.meta.dirname, '../..');

/** Reads the TypeScript files below a folder of the repository. */
export function readSources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => readSource(join(folder, file)));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const { program, module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const { staticImports, staticExports, dynamicImports } = module;
  const exported = staticExports.flatMap(({ entries }) => entries);
  const imports = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...exported.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ...dynamicImports.flatMap(({ moduleRequest: { start, end } }) =>
      // The value of a template or a variable is not known here.
      /^['"]/.test(text[start] ?? '') ? text.slice(start + 1, end - 1) : [],
    ),
  ];
  const functions: SourceFunction[] = [];
  const elements: number[] = [];
  const names = new Set<string>();
  const casts: string[] = [];
  const literals: string[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const addFunction = ({ start, end }: { readonly start: number; readonly end: number }) => {
    const line = lineAt(start);
    functions.push({ line, lines: lineAt(end) - line + 1 });
  };
  new Visitor({
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    JSXElement: ({ start }) => void elements.push(lineAt(start)),
    JSXFragment: ({ start }) => void elements.push(lineAt(start)),
    Identifier: ({ name }) => void names.add(name),
    TSAsExpression: ({ typeAnnotation: { start, end } }) => void casts.push(text.slice(start, end)),
    Literal: ({ value }) => void (typeof value === 'string' && literals.push(value)),
    TemplateElement: ({ value }) => void literals.push(value.raw),
    TSImportType: ({ source }) => void imports.push(source.value),
  }).visit(program);
  return {
    path,
    imports,
    loads: [
      ...staticImports
        .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
        .map(({ moduleRequest }) => moduleRequest.value),
      ...exported.flatMap(({ moduleRequest, isType }) => (isType ? [] : (moduleRequest?.value ?? []))),
    ],
    exports: exported.flatMap(({ exportName }) => exportName.name ?? []),
    functions,
    elements,
    names,
    casts,
    literals,
    code: comments.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text),
  };
}
