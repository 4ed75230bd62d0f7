import { isObject } from './payload-filter.ts';
import { fieldOf } from './payload-filter-match.ts';

/** Entries by the field, and its value, at which a payload leads to them. */
export interface FieldTree<T> {
  readonly children: Map<string, FieldTree<T>>;
  /** By a value of the field, or by `anyValue`. */
  readonly needed: Map<unknown, Posting<T>>;
  readonly ruledOut: Map<unknown, Posting<T>>;
}

export interface Posting<T> {
  readonly entries: T[];
  /** The last round in which it was taken. */
  takenIn: number;
}

/** Stands for every value that a field may have. */
export const anyValue = Symbol('any value');

export interface Post {
  readonly kind: 'needed' | 'ruledOut';
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

export function fieldTree<T>(): FieldTree<T> {
  return { children: new Map(), needed: new Map(), ruledOut: new Map() };
}

export function addPost<T>(tree: FieldTree<T>, { kind, path, values }: Post, entry: T): void {
  let node = tree;
  for (const field of path) {
    const child = node.children.get(field) ?? fieldTree<T>();
    node.children.set(field, child);
    node = child;
  }
  for (const value of new Set(values)) {
    const posting = node[kind].get(value);
    if (posting) posting.entries.push(entry);
    else node[kind].set(value, { entries: [entry], takenIn: 0 });
  }
}

/** Told of each posting that a payload leads to, of some more than once. */
export interface Found<T> {
  needed(posting: Posting<T>): void;
  ruledOut(posting: Posting<T>): void;
}

/**
 * Walks what of a payload the tree knows, as filters look at it: into arrays once, and of own fields only. A value
 * in one element of an array rules nothing out, because a filter may hold of another element.
 */
export function walkFields<T>(value: unknown, tree: FieldTree<T>, found: Found<T>, inArray = false): void {
  if (tree.children.size === 0) return;
  if (Array.isArray(value)) for (const element of value) walkObject(element, tree, found, true);
  else walkObject(value, tree, found, inArray);
}

// Up to so many fields are looked up one by one; past it, the object's own fields are. Either is bounded by the payload.
const fieldsFew = 4;

function walkObject<T>(value: unknown, { children }: FieldTree<T>, found: Found<T>, inArray: boolean): void {
  if (!isObject(value)) return;
  if (children.size <= fieldsFew) {
    for (const [field, child] of children) visitField(fieldOf(value, field), child, found, inArray);
    return;
  }
  for (const field of Object.keys(value)) {
    const child = children.get(field);
    if (child) visitField(value[field], child, found, inArray);
  }
}

function visitField<T>(value: unknown, node: FieldTree<T>, found: Found<T>, inArray: boolean): void {
  if (value === undefined) return;
  const { needed, ruledOut } = node;
  report(needed, value, found.needed);
  if (!inArray) report(ruledOut, value, found.ruledOut);
  walkFields(value, node, found, inArray);
}

function report<T>(
  postings: ReadonlyMap<unknown, Posting<T>>,
  value: unknown,
  found: (posting: Posting<T>) => void,
): void {
  if (postings.size === 0) return;
  const reportOne = (one: unknown) => {
    const posting = postings.get(one);
    if (posting) found(posting);
  };
  reportOne(anyValue);
  if (Array.isArray(value)) value.forEach(reportOne);
  else reportOne(value);
}
