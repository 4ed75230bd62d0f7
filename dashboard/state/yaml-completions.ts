import { renderFlowValue } from '../../schema/changes/block-lines.ts';
import { boundNames, type Scalar } from '../../schema/filters/clause.ts';
import { operatorTexts } from '../../schema/filters/payload-filter.ts';
import type { YamlCursor } from './yaml-cursor.ts';

/** A part of a JSON Schema, as far as completions read it. */
export interface SchemaPart {
  readonly type?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly items?: SchemaPart;
  readonly enum?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
  readonly const?: unknown;
  readonly [keyword: string]: unknown;
}

/** A field of real payloads. */
export interface SentField {
  readonly path: string;
  /** null: the elements of an array. */
  readonly keys: readonly (string | null)[];
  readonly deliveries: number;
  readonly types: readonly { readonly type: string }[];
  readonly examples: readonly Scalar[];
}

export interface CompletionSources {
  /** The JSON Schema of automations. */
  readonly schema: SchemaPart;
  readonly webhooks: readonly { readonly name: string }[];
  /** The headers that the webhooks of the automation keep. */
  readonly headers: readonly string[];
  readonly runners: readonly { readonly name: string; readonly repositories?: readonly string[] }[];
  /** The fields that the webhooks of the automation received. */
  readonly fields: readonly SentField[];
}

export interface YamlCompletion {
  readonly label: string;
  /** What is typed instead of the word. */
  readonly insert: string;
  readonly detail?: string | undefined;
  readonly info?: string | undefined;
}

/** Lists what an automation can have at a place: keys, names, and fields and values that were really sent. */
export function completeYaml(cursor: YamlCursor, sources: CompletionSources): readonly YamlCompletion[] {
  const { path, at } = cursor;
  const [, , , part, ...below] = path;
  if (path.slice(0, 3).join('.') === 'triggers.[].filter') {
    if (part === 'payload') return completeFilter(cursor, below, sources.fields);
    if (part === 'headers') return completeHeaders(cursor, below, sources.headers);
    if (part === 'webhook' && at === 'value') return toValues(sources.webhooks.map(({ name }) => name));
  }
  const key = path.join('.');
  if (at === 'value') {
    if (/^(?:order|concurrencyKey|debounce\.key)$/.test(key)) return listPaths(sources.fields);
    if (key === 'runner') return toValues(sources.runners.map(({ name }) => name));
    if (key === 'repository')
      return toValues(sources.runners.flatMap(({ repositories = [] }) => repositories));
  }
  return completeBySchema(cursor, sources.schema);
}

const listOperators: readonly string[] = ['in', 'not_in', '$like', '$not_like'];

function completeFilter(
  cursor: YamlCursor,
  below: readonly string[],
  fields: readonly SentField[],
): readonly YamlCompletion[] {
  const path = below.filter(key => key !== '[]' && key !== '$none');
  const operator = path.at(-1) ?? '';
  const children = listChildren(path, fields);
  if (operator === 'exists' && cursor.at === 'value') return toValues([true, false]);
  if (operator === '$compare' && cursor.at === 'key')
    return boundNames.map(name => ({ label: name, insert: `${name}: ` }));
  const isOperand = listOperators.includes(operator) && children.length === 0;
  if (cursor.isListed || isOperand || (cursor.at === 'value' && !cursor.isFlow)) {
    const values = listValues(isOperand ? path.slice(0, -1) : path, fields);
    return toValues(values).map(value => (cursor.isListed ? value : inBrackets(value)));
  }
  if (cursor.at === 'value') return toValues(listValues(path, fields)).map(inBrackets);
  if (path.length === 0 || children.length > 0) return toKeys(children, cursor);
  return Object.entries(operatorTexts).map(([name, { description }]) => {
    return { label: name, insert: `${name}: `, info: description };
  });
}

interface Child {
  readonly key: string;
  readonly field: SentField;
  readonly isNested: boolean;
}

/** The fields directly below a path; filters name no elements of arrays. */
function listChildren(path: readonly string[], fields: readonly SentField[]): readonly Child[] {
  const found = new Map<string, Child>();
  for (const field of fields) {
    const keys = namesOf(field);
    const key = keys[path.length];
    if (key === undefined || !path.every((step, index) => keys[index] === step)) continue;
    const known = found.get(key);
    const isNested = known?.isNested || keys.length > path.length + 1;
    found.set(key, { key, field: known?.field ?? field, isNested });
  }
  return [...found.values()];
}

function listValues(path: readonly string[], fields: readonly SentField[]): readonly Scalar[] {
  const values = fields.flatMap(field =>
    JSON.stringify(namesOf(field)) === JSON.stringify(path) ? field.examples : [],
  );
  return [...new Set(values)];
}

/** The keys that a filter has for a field. */
export function namesOf({ keys }: Pick<SentField, 'keys'>): readonly string[] {
  return keys.filter(key => key !== null);
}

function toKeys(children: readonly Child[], { isFlow, column }: YamlCursor): readonly YamlCompletion[] {
  return children.map(({ key, field, isNested }) => {
    const written = renderFlowValue(key);
    const types = field.types.map(({ type }) => type).join(' or ');
    const next = isFlow ? ' ' : `\n${' '.repeat(column + 2)}`;
    return {
      label: key,
      insert: isNested ? `${written}:${next}` : `${written}: `,
      detail: isNested ? types : field.examples.slice(0, 3).map(renderFlowValue).join(', '),
      info: `In ${field.deliveries} deliveries: ${types}.`,
    };
  });
}

function toValues(values: readonly Scalar[]): readonly YamlCompletion[] {
  return values.map(value => ({ label: String(value), insert: renderFlowValue(value) }));
}

function inBrackets(value: YamlCompletion): YamlCompletion {
  return { ...value, insert: `[${value.insert}]` };
}

function listPaths(fields: readonly SentField[]): readonly YamlCompletion[] {
  const single = fields.filter(({ keys, types }) => !keys.includes(null) && types.some(isScalarType));
  return single.map(({ path, examples }) => ({
    label: path,
    insert: renderPath(path),
    detail: examples.slice(0, 3).map(renderFlowValue).join(', '),
  }));
}

function isScalarType({ type }: { readonly type: string }): boolean {
  return type !== 'object' && type !== 'array' && type !== 'null';
}

/** A path with brackets has quotes, which YAML reads unless the path is quoted. */
function renderPath(path: string): string {
  return path.includes('[') ? `'${path.replaceAll("'", "''")}'` : path;
}

function completeHeaders(
  cursor: YamlCursor,
  below: readonly string[],
  headers: readonly string[],
): readonly YamlCompletion[] {
  if (cursor.at === 'value' || below.length > 0) return [];
  return headers.map(name => ({ label: name, insert: `${name}: ` }));
}

function completeBySchema(cursor: YamlCursor, schema: SchemaPart): readonly YamlCompletion[] {
  const { path, at, isFlow, column } = cursor;
  const part = path.reduce<SchemaPart | undefined>(
    (found, key) => (key === '[]' ? found?.items : found?.properties?.[key]),
    schema,
  );
  if (!part) return [];
  const values =
    part.enum ?? (part.const === undefined ? (part.type === 'boolean' ? [true, false] : []) : [part.const]);
  if (at === 'value' || cursor.isListed) {
    const listed = part.type === 'array' ? (part.items?.enum ?? []) : [];
    const completions = toValues(values as readonly Scalar[]).map((value, index) => {
      return { ...value, info: part.enumDescriptions?.[index] };
    });
    if (completions.length > 0 || !part.properties)
      return [...completions, ...toValues(listed as readonly Scalar[]).map(inBrackets)];
  }
  return Object.entries(part.properties ?? {}).map(([key, { type, items, description }]) => {
    const next = `\n${' '.repeat(column + 2)}`;
    const isNested = !isFlow && (type === 'object' || items?.type === 'object');
    const after = isNested ? `${next}${type === 'array' ? '- ' : ''}` : ' ';
    return { label: key, insert: `${key}:${after}`, info: description };
  });
}
