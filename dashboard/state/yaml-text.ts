import { diffArrays } from 'diff';
import {
  Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type Tags,
  type YAMLMap,
} from 'yaml';

/** Keys, and indexes of lists. */
export type YamlPath = readonly (string | number)[];

/**
 * Sets a value in a text of YAML, and adds the mappings above it. Comments and other lines stay as they are. Returns
 * undefined if the text is no mapping in YAML.
 */
export function setInYaml(text: string, path: YamlPath, value: unknown): string | undefined {
  const document = parseText(text);
  if (!document) return undefined;
  if (isMap(document.contents)) return edit(text, document, () => put(document, path, value));
  const added = new Document({}, options);
  put(added, path, value);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${render(added)}`;
}

/** Removes a key from a text of YAML, and the mapping that contained it if that is empty then. */
export function removeFromYaml(text: string, path: YamlPath): string | undefined {
  const document = parseText(text);
  if (!document?.hasIn(path)) return document && text;
  const above = path.slice(0, -1);
  const parent = document.getIn(above, true) ?? document.contents;
  if (above.length > 0 && isMap(parent) && parent.items.length === 1) return removeFromYaml(text, above);
  return edit(text, document, () => {
    if (isMap(parent)) keepComment(parent, path.at(-1));
    document.deleteIn(path);
  });
}

/** Braces have a space within them, brackets have none. */
const paddings: Readonly<Record<string, string>> = {
  'tag:yaml.org,2002:map': ' ',
  'tag:yaml.org,2002:seq': '',
};
const options = {
  logLevel: 'silent',
  customTags: (tags: Tags) =>
    tags.map(tag => {
      const padding = typeof tag === 'object' ? paddings[tag.tag] : undefined;
      if (typeof tag !== 'object' || padding === undefined) return tag;
      const stringify: typeof tag.stringify = (node, context, ...callbacks) =>
        (node as unknown as YAMLMap).toString({ ...context, flowCollectionPadding: padding }, ...callbacks);
      return { ...tag, stringify } as typeof tag;
    }),
} as const;

function parseText(text: string): Document | undefined {
  const document = parseDocument(text, options);
  const { contents, errors } = document;
  const isEditable = contents === null || isMap(contents) || (isScalar(contents) && contents.value === null);
  return errors.length === 0 && isEditable ? document : undefined;
}

function render(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

/** Changes a document, and of its text only the lines that say something else then. */
function edit(text: string, document: Document, change: () => void): string {
  const before = render(document);
  change();
  const after = render(document);
  const [texts, ...rendered] = [text, before, after].map(each => each.replace(/\n$/, '').split('\n'));
  const merged = mergeLines(texts ?? [], rendered[0] ?? [], rendered[1] ?? []).join('\n');
  const isSame = JSON.stringify(parseText(merged)?.toJS()) === JSON.stringify(document.toJS());
  return isSame ? `${merged}${text.endsWith('\n') && merged !== '' ? '\n' : ''}` : after;
}

/** Makes in `lines` the changes from `before` to `after`. */
function mergeLines(
  lines: readonly string[],
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const [inLines, inAfter] = [findAlike(before, lines), findAlike(before, after)];
  const merged: string[] = [];
  let [at, line, next] = [0, 0, 0];
  for (let index = 0; index <= before.length; index++) {
    const isEnd = index === before.length;
    const [toLine, toNext] = isEnd ? [lines.length, after.length] : [inLines.get(index), inAfter.get(index)];
    if (toLine === undefined || toNext === undefined) continue;
    const changed = after.slice(next, toNext);
    const isChanged = before.slice(at, index).join('\n') !== changed.join('\n');
    merged.push(...(isChanged ? changed : lines.slice(line, toLine)), ...lines.slice(toLine, toLine + 1));
    [at, line, next] = [index + 1, toLine + 1, toNext + 1];
  }
  return merged;
}

/** Where lines of one text are in another one, however wide their spaces are. */
function findAlike(one: readonly string[], other: readonly string[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  let [at, to] = [0, 0];
  for (const { added, removed, count } of diffArrays(one.map(narrow), other.map(narrow))) {
    if (!added && !removed) for (let line = 0; line < count; line++) found.set(at + line, to + line);
    if (!added) at += count;
    if (!removed) to += count;
  }
  return found;
}

function narrow(line: string): string {
  return line.replaceAll(/(?<=\S) +/g, '');
}

/** Sets a value in the innermost mapping or list that leads to it, with its comment. */
function put(document: Document, path: YamlPath, value: unknown): void {
  let node = document.contents;
  let [key, ...rest] = path;
  while (isCollection(node) && rest.length > 0) {
    const below = node.get(key, true) as Node | null;
    if (!isMap(below) && !(isSeq(below) && typeof rest[0] === 'number')) break;
    node = below;
    [key, ...rest] = rest;
  }
  if (!isCollection(node)) return;
  const condition = node.get(key, true);
  // A list of values stays below `in`, beside other operators.
  const isOperand = rest.length === 0 && Array.isArray(value) && isMap(condition) && condition.has('in');
  if (isOperand) {
    put(document, [...path, 'in'], value);
    return;
  }
  const made = document.createNode(rest.reduceRight((inner: unknown, each) => ({ [each]: inner }), value));
  const old = node.get(key, true) as Node | undefined;
  made.comment = old?.comment ?? null;
  layOut(made);
  node.set(key, made);
}

/** Lists, and operators such as `{ exists: true }`, stay on the line of their field. */
function layOut(node: unknown): void {
  if (!isCollection(node)) return;
  const values = isMap(node) ? node.items.map(({ value }) => value) : [];
  node.flow = isSeq(node) || (values.length === 1 && isScalar(values[0]));
  values.forEach(layOut);
}

/** Moves the comment above a key that is removed to the next key. */
function keepComment(map: YAMLMap, key: unknown): void {
  const at = map.items.findIndex(pair => isScalar(pair.key) && pair.key.value === key);
  const [gone, next] = [map.items[at]?.key, map.items[at + 1]?.key];
  if (!isScalar(gone) || gone.commentBefore == null) return;
  const comment = [gone.commentBefore, isScalar(next) && next.commentBefore].filter(Boolean).join('\n');
  if (isScalar(next)) Object.assign(next, { commentBefore: comment, spaceBefore: gone.spaceBefore });
  else map.comment = comment;
}
