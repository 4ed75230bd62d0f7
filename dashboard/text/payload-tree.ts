import { createTextFinder } from '../../json/find-json-text.ts';
import { type FieldPath, renderPathSegment } from '../../schema/field-path.ts';

/** @limit Fields or elements of one value that the tree of a payload shows until somebody asks for more: each is an element of the page. */
export const shownFieldsMax = 200;

/** @limit Most matches of a search in a payload: nobody steps through more. */
export const foundNodesMax = 500;

/** @limit Levels of a payload that a search looks at, and that a comparison tells apart: deeper ones have only the raw text. */
const comparedLevelsMax = 100;

/** @limit Longest text of a value in the tree of a payload, in characters: the raw text has all of it. */
const valueCharsMax = 1_000;

/** A line of the tree of a payload. */
export interface TreeNode {
  /** Its JSONPath (RFC 9535). */
  readonly path: string;
  readonly steps: FieldPath;
  /** The key, or the index in brackets. */
  readonly name: string;
  readonly value: unknown;
  /** How many levels it is below the top. */
  readonly depth: number;
  /** Only if it has fields or elements. */
  readonly isOpen?: boolean;
  /** How many more fields follow, of which this line stands for all. */
  readonly rest?: number;
}

interface Options {
  readonly isOpen: (path: string, depth: number) => boolean;
  /** How many fields of the value at a path are shown. */
  readonly shownOf: (path: string) => number;
}

/** Lists the lines of a tree from top to bottom, as far as they are open. */
export function listNodes(root: unknown, { isOpen, shownOf }: Options): TreeNode[] {
  const add = (value: unknown, path: string, steps: FieldPath, depth: number): TreeNode[] => {
    const fields = listFields(value);
    const shown = shownOf(path);
    const nodes = fields.slice(0, shown).flatMap(([step, field]): TreeNode[] => {
      const below = path + renderStep(step);
      const node = { path: below, steps: [...steps, step], name: nameOf(step), value: field, depth };
      if (listFields(field).length === 0) return [node];
      const open = isOpen(below, depth);
      return [{ ...node, isOpen: open }, ...(open ? add(field, below, node.steps, depth + 1) : [])];
    });
    const rest = fields.length - shown;
    return rest > 0 ? [...nodes, { path, steps, name: '', value: undefined, depth, rest }] : nodes;
  };
  return isContainer(root)
    ? add(root, '$', [], 0)
    : [{ path: '$', steps: [], name: '$', value: root, depth: 0 }];
}

/** What a search found in a payload: the paths of lines, from top to bottom, and of all that must be open to see them. */
export interface FoundNodes {
  readonly paths: readonly string[];
  readonly above: ReadonlySet<string>;
}

/** Finds the lines whose key or value contains a text, in upper or lower case. */
export function findNodes(root: unknown, sought: string): FoundNodes {
  const paths: string[] = [];
  const above = new Set<string>();
  const text = sought.toLowerCase();
  const has = (value: string) => value.toLowerCase().includes(text);
  const look = (value: unknown, path: string, parents: readonly string[]): void => {
    for (const [step, field] of listFields(value)) {
      if (paths.length >= foundNodesMax) return;
      const below = path + renderStep(step);
      if (has(nameOf(step)) || (!isContainer(field) && has(writeValue(field)))) {
        paths.push(below);
        for (const parent of parents) above.add(parent);
      }
      if (parents.length < comparedLevelsMax) look(field, below, [...parents, below]);
    }
  };
  if (sought !== '') look(root, '$', []);
  return { paths, above };
}

/** A difference between two payloads, at one path. Of a value that only one of them has, the other side is undefined. */
interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Compares two payloads field by field, and lists by index. Stops after `most` differences. */
export function compareTrees(before: unknown, after: unknown, most: number): Difference[] {
  const found: Difference[] = [];
  const compare = (left: unknown, right: unknown, path: string, depth: number): void => {
    if (found.length >= most || Object.is(left, right)) return;
    const areAlike = isContainer(left) && isContainer(right) && Array.isArray(left) === Array.isArray(right);
    if (!areAlike || depth >= comparedLevelsMax) {
      found.push({ path, before: left, after: right });
      return;
    }
    const [old, current] = [new Map(listFields(left)), new Map(listFields(right))];
    for (const step of new Set([...current.keys(), ...old.keys()])) {
      compare(old.get(step), current.get(step), path + renderStep(step), depth + 1);
    }
  };
  compare(before, after, '$', 0);
  return found;
}

/** Renders a value that has no fields, as JSON; or an empty object or list. */
function writeValue(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (isContainer(value)) return '{}';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
}

/** Renders numbers of a JSON text as they stand in it, because parsed ones may have lost digits. */
export function createValueRenderer(json: string): (node: Pick<TreeNode, 'steps' | 'value'>) => string {
  const find = createTextFinder(json);
  return ({ steps, value }) =>
    (typeof value === 'number' && !Number.isSafeInteger(value) ? find(steps) : undefined) ??
    writeValue(value);
}

/** Keys whose values name an object, the best first. */
const namingKeys = ['full_name', 'login', 'name', 'title', 'slug', 'key', 'id'];

/** Describes what is below a line: `18 fields · jlin`, `3 elements`. */
export function describeFields(value: unknown): string {
  const fields = listFields(value);
  const noun = Array.isArray(value) ? 'element' : 'field';
  const count = `${fields.length.toLocaleString('en')} ${noun}${fields.length === 1 ? '' : 's'}`;
  if (Array.isArray(value)) return count;
  const known = new Map(fields);
  const name = namingKeys.map(key => known.get(key)).find(each => typeof each === 'string' && each !== '');
  return typeof name === 'string' && name.length <= 60 ? `${count} · ${name}` : count;
}

function listFields(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((element, index) => [index, element] as const);
  return isContainer(value) ? Object.entries(value) : [];
}

/** Whether a value is an object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function renderStep(step: string | number): string {
  return typeof step === 'number' ? `[${step}]` : renderPathSegment(step);
}

function nameOf(step: string | number): string {
  return typeof step === 'number' ? `[${step}]` : step;
}
