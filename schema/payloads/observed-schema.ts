import type { ObservedPath, ObservedPaths } from './observed-paths.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Makes a JSON Schema (draft 7) of observed payloads. It describes every observed one: a field is required if no object
 * was without it. It contains no values, because a value that was not seen yet is not wrong.
 */
export function makeObservedSchema(title: string, { paths, deliveries }: ObservedPaths): JsonSchema {
  const description = `The payloads of the last ${deliveries} accepted deliveries, as observed.`;
  const tree = buildTree(paths);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    description,
    ...(tree ? toSchema(tree) : {}),
  };
}

/** An observed path with those below it. */
export interface ObservedTree {
  readonly observed: ObservedPath;
  readonly fields: Map<string, ObservedTree>;
  elements: ObservedTree | undefined;
}

/**
 * Arranges paths as a tree; undefined if there are none. Leaves out keys with half a surrogate pair: validators name a
 * place in a schema by a URI (RFC 6901 section 6), and no URI has such a key.
 */
export function buildTree(paths: readonly ObservedPath[]): ObservedTree | undefined {
  const trees = new Map<string, ObservedTree>();
  for (const observed of paths) {
    if (observed.keys.some(key => key?.isWellFormed() === false)) continue;
    const tree: ObservedTree = { observed, fields: new Map(), elements: undefined };
    trees.set(JSON.stringify(observed.keys), tree);
    const above = trees.get(JSON.stringify(observed.keys.slice(0, -1)));
    const key = observed.keys.at(-1);
    if (above && key === null) above.elements = tree;
    else if (above && typeof key === 'string') above.fields.set(key, tree);
  }
  return trees.get('[]');
}

function toSchema({ observed: { types }, fields, elements }: ObservedTree): JsonSchema {
  const known = types
    .map(({ type }) => type)
    .filter((type, _, all) => type !== 'integer' || !all.includes('number'));
  const objects = types.find(({ type }) => type === 'object')?.values ?? 0;
  const required = [...fields].filter(([, child]) => countValues(child) === objects).map(([key]) => key);
  return {
    ...(known.length > 0 && { type: known.length === 1 ? known[0] : known }),
    ...(fields.size > 0 && {
      properties: Object.fromEntries([...fields].map(([key, child]) => [key, toSchema(child)])),
    }),
    ...(required.length > 0 && { required }),
    ...(elements && { items: toSchema(elements) }),
  };
}

function countValues({ observed: { types } }: ObservedTree): number {
  return types.reduce((sum, { values }) => sum + values, 0);
}
