import {
  type Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/** Keys, and indexes of lists. */
export type YamlPath = readonly (string | number)[];

/**
 * Sets a value in a text of YAML, and adds the mappings above it. Comments and everything else stay as they are. Returns
 * undefined if the text is no mapping in YAML.
 */
export function setInYaml(text: string, path: YamlPath, value: unknown): string | undefined {
  const document = parseText(text);
  if (!document) return undefined;
  const wanted = setInValue(document.toJS() ?? {}, path, value);
  return tryChange(text, findSetting(text, document, path, value), wanted) ?? rewrite(document, path, value);
}

/** Removes a key from a text of YAML, and the mapping that contained it if that is empty then. */
export function removeFromYaml(text: string, path: YamlPath): string | undefined {
  const document = parseText(text);
  if (!document?.hasIn(path)) return document && text;
  const parent = document.getIn(path.slice(0, -1), true);
  const isOnly = path.length > 1 && isMap(parent) && parent.items.length === 1;
  if (isOnly) return removeFromYaml(text, path.slice(0, -1));
  const change = findRemoval(text, document, path);
  document.deleteIn(path);
  return tryChange(text, change, document.toJS()) ?? document.toString({ lineWidth: 0 });
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Makes a change of the text; undefined if it would not have the effect. */
function tryChange(text: string, change: Change | undefined, wanted: unknown): string | undefined {
  if (!change) return undefined;
  const changed = text.slice(0, change.from) + change.insert + text.slice(change.to);
  const document = parseText(changed);
  return document && JSON.stringify(document.toJS()) === JSON.stringify(wanted) ? changed : undefined;
}

/** Writes the whole document anew, which keeps its comments but not how it is set. */
function rewrite(document: Document, path: YamlPath, value: unknown): string {
  const at = path.findIndex((_, index) => {
    const above = path.slice(0, index + 1);
    return document.hasIn(above) && !leadsOn(document.getIn(above, true), path[index + 1]);
  });
  if (at >= 0) document.deleteIn(path.slice(0, at + 1));
  document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

function parseText(text: string): Document | undefined {
  const document = parseDocument(text, { logLevel: 'silent' });
  const { contents, errors } = document;
  const isEditable = contents === null || isMap(contents) || (isScalar(contents) && contents.value === null);
  return errors.length === 0 && isEditable ? document : undefined;
}

function findSetting(text: string, document: Document, path: YamlPath, value: unknown): Change | undefined {
  if (isMap(document.contents)) return setBelow({ text, document }, document.contents, path, value);
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    from: text.length,
    to: text.length,
    insert: `${gap}${renderEntry(path, value, '')}\n`,
  };
}

interface Source {
  readonly text: string;
  readonly document: Document;
}

function setBelow(source: Source, node: Node, path: YamlPath, value: unknown): Change | undefined {
  const { text, document } = source;
  const [key, ...rest] = path;
  if (isCollection(node) && node.flow) {
    const [from, to] = spanOf(node);
    const known: unknown = node.toJS(document);
    return { from, to, insert: renderFlow(setInValue(known, path, value)) };
  }
  if (isSeq(node)) {
    const item = node.items[Number(key)];
    return isCollection(item) ? setBelow(source, item, rest, value) : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = findPair(node, key);
  if (!pair) return insertInto(text, node, path, value);
  const below = pair.value as Node | null;
  if (leadsOn(below, rest[0])) return setBelow(source, below, rest, value);
  return replaceValue(text, pair, setInValue({}, ['x', ...rest], value).x, columnOf(text, node));
}

/** Whether the key can be set in this node. */
function leadsOn(node: unknown, key: string | number | undefined): node is YAMLMap | YAMLSeq {
  return key !== undefined && (isMap(node) || (isSeq(node) && typeof key === 'number'));
}

function findPair(map: YAMLMap, key: unknown): Pair | undefined {
  return map.items.find(pair => isScalar(pair.key) && pair.key.value === key);
}

function replaceValue(text: string, pair: Pair, value: unknown, column: number): Change {
  const old = pair.value as Node | null;
  const isShort = !isMapping(value);
  const isPlain = isScalar(old) && old.source !== '' && old.type !== 'BLOCK_LITERAL' && old.range;
  if (isShort && old?.range && (isPlain || (isCollection(old) && old.flow))) {
    const [from, to] = spanOf(old);
    return { from, to, insert: renderFlow(value) };
  }
  const colon = text.indexOf(':', spanOf(pair.key as Node)[1]) + 1;
  const to = old?.range ? Math.max(colon, endOf(text, old)) : colon;
  const inner = ' '.repeat(column + 2);
  const insert = isShort ? ` ${renderFlow(value)}` : `\n${inner}${renderBlock(value).join(`\n${inner}`)}`;
  return { from: colon, to, insert };
}

/** Adds a key at the end of a mapping. */
function insertInto(text: string, map: YAMLMap, path: YamlPath, value: unknown): Change {
  const indent = ' '.repeat(columnOf(text, map));
  const last = map.items.at(-1);
  const end = endOf(text, (last?.value ?? last?.key) as Node);
  const lineEnd = text.indexOf('\n', end);
  const at = lineEnd < 0 ? text.length : lineEnd;
  return { from: at, to: at, insert: `\n${renderEntry(path, value, indent)}` };
}

function findRemoval(text: string, document: Document, path: YamlPath): Change | undefined {
  const parent = document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent) ? findPair(parent, path.at(-1)) : undefined;
  if (!isMap(parent) || !pair) return undefined;
  if (parent.flow) {
    const [from, to] = spanOf(parent);
    const { [String(path.at(-1))]: _, ...others } = parent.toJS(document) as Record<string, unknown>;
    return { from, to, insert: renderFlow(others) };
  }
  const [keyAt] = spanOf(pair.key as Node);
  const lineStart = text.lastIndexOf('\n', keyAt - 1) + 1;
  const lineEnd = text.indexOf('\n', endOf(text, (pair.value ?? pair.key) as Node));
  return { from: lineStart, to: lineEnd < 0 ? text.length : lineEnd + 1, insert: '' };
}

function spanOf(node: Node): readonly [start: number, end: number] {
  const [start, end] = (node as Scalar).range ?? [0, 0];
  return [start, end];
}

/** Where the content of a node ends, without the line breaks after it. */
function endOf(text: string, node: Node): number {
  const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined;
  if (last !== undefined) {
    const { key, value } = last as Partial<Pair>;
    return endOf(text, (key === undefined ? last : (value ?? key)) as Node);
  }
  const [start, end] = spanOf(node);
  return start + text.slice(start, end).trimEnd().length;
}

function columnOf(text: string, map: YAMLMap): number {
  const [start] = spanOf(map.items[0]?.key as Node);
  return start - (text.lastIndexOf('\n', start - 1) + 1);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function renderEntry(path: YamlPath, value: unknown, indent: string): string {
  return renderBlock(setInValue({}, path, value))
    .map(line => indent + line)
    .join('\n');
}

/** An operator, such as `{ exists: true }`, stays on the line of its field. */
function renderBlock(value: Record<string, unknown>): string[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const isNested = isMapping(part) && (Object.keys(part).length !== 1 || Object.values(part).some(isField));
    if (!isNested) return [`${renderFlow(key)}: ${renderFlow(part)}`];
    return [`${renderFlow(key)}:`, ...renderBlock(part).map(line => `  ${line}`)];
  });
}

/** Renders a value on one line, with quotes only where they are needed. */
function renderFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlow).join(', ')}]`;
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, part]) => `${renderFlow(key)}: ${renderFlow(part)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  if (typeof value !== 'string' || value.includes('\n')) return JSON.stringify(value);
  const listed = stringify([value], { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 });
  return listed.trim().slice(1, -1);
}

function isField(value: unknown): boolean {
  return isMapping(value) || Array.isArray(value);
}

/** Sets a value in a copy of plain data. */
function setInValue(value: unknown, [key = '', ...rest]: YamlPath, set: unknown): Record<string, unknown> {
  const isListed = Array.isArray(value) && typeof key === 'number';
  const copy = (isListed ? [...value] : isMapping(value) ? { ...value } : {}) as Record<string, unknown>;
  copy[key] = rest.length === 0 ? set : setInValue(copy[key], rest, set);
  return copy;
}
