import { isObject } from './clause.ts';
import { getField } from './payload-filter-match.ts';

/** A tree of payload fields. Each node lists the entries that need, or are ruled out by, a value of its field. */
export interface FieldTree<T> {
  readonly children: Map<string, FieldTree<T>>;
  /** The keys are values of the field, or `anyValue`. */
  readonly needed: Map<unknown, Posting<T>>;
  readonly ruledOut: Map<unknown, Posting<T>>;
}

export interface Posting<T> {
  readonly entries: T[];
  /** The last round in which it was collected. */
  collectedIn: number;
}

/** Stands for any value of a field. */
export const anyValue = Symbol('any value');

export interface Post {
  readonly kind: 'needed' | 'ruledOut';
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

export function createFieldTree<T>(): FieldTree<T> {
  return { children: new Map(), needed: new Map(), ruledOut: new Map() };
}

export function addPost<T>(tree: FieldTree<T>, { kind, path, values }: Post, entry: T): void {
  let node = tree;
  for (const field of path) {
    const child = node.children.get(field) ?? createFieldTree<T>();
    node.children.set(field, child);
    node = child;
  }
  for (const value of new Set(values)) {
    const posting = node[kind].get(value);
    if (posting) posting.entries.push(entry);
    else node[kind].set(value, { entries: [entry], collectedIn: 0 });
  }
}

/** Receives each posting that a payload leads to, some of them more than once. */
export interface PostingReceiver<T> {
  needed(posting: Posting<T>): void;
  ruledOut(posting: Posting<T>): void;
}

/**
 * Walks the fields of a payload that are in the tree, as filters do: own fields only, and one level into arrays. A
 * value in an array's element rules nothing out, because another element may match the filter.
 */
export function walkFields<T>(
  value: unknown,
  tree: FieldTree<T>,
  receiver: PostingReceiver<T>,
  inArray = false,
): void {
  if (tree.children.size === 0) return;
  if (Array.isArray(value)) for (const element of value) walkObject(element, tree, receiver, true);
  else walkObject(value, tree, receiver, inArray);
}

// A node with few fields looks each of them up in the object; other nodes go through the object's own fields.
const fieldsFew = 4;

function walkObject<T>(
  value: unknown,
  { children }: FieldTree<T>,
  receiver: PostingReceiver<T>,
  inArray: boolean,
): void {
  if (!isObject(value)) return;
  if (children.size <= fieldsFew) {
    for (const [field, child] of children) visitField(getField(value, field), child, receiver, inArray);
    return;
  }
  for (const field of Object.keys(value)) {
    const child = children.get(field);
    if (child) visitField(value[field], child, receiver, inArray);
  }
}

function visitField<T>(
  value: unknown,
  node: FieldTree<T>,
  receiver: PostingReceiver<T>,
  inArray: boolean,
): void {
  if (value === undefined) return;
  const { needed, ruledOut } = node;
  reportPostings(needed, value, receiver.needed);
  if (!inArray) reportPostings(ruledOut, value, receiver.ruledOut);
  walkFields(value, node, receiver, inArray);
}

function reportPostings<T>(
  postings: ReadonlyMap<unknown, Posting<T>>,
  value: unknown,
  receive: (posting: Posting<T>) => void,
): void {
  if (postings.size === 0) return;
  const reportOne = (one: unknown) => {
    const posting = postings.get(one);
    if (posting) receive(posting);
  };
  reportOne(anyValue);
  if (Array.isArray(value)) value.forEach(reportOne);
  else reportOne(value);
}
