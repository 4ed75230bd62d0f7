import { enterArrays } from './observation.ts';
import type { ObservedPath, ObservedPaths } from './observed-paths.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

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
interface ObservedTree {
  readonly observed: ObservedPath;
  readonly fields: Map<string, ObservedTree>;
  elements: ObservedTree | undefined;
}

/**
 * Arranges paths as a tree; undefined if there are none. Leaves out keys with half a surrogate pair: validators name a
 * place in a schema by a URI (RFC 6901 section 6), and no URI has such a key.
 */
function buildTree(paths: readonly ObservedPath[]): ObservedTree | undefined {
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

/** The observed paths of one webhook's payloads. */
interface ObservedWebhook {
  readonly uid: string;
  /** Its name. */
  readonly webhook: string;
  readonly deliveries: number;
  readonly paths: readonly ObservedPath[];
}

/**
 * Adds observed paths to the JSON Schema of an automation: an editor then completes the names of webhooks, and the fields
 * and values that the webhook of a trigger received. The schema accepts the same files as before.
 */
export function addObservedPaths(automation: JsonSchema, webhooks: readonly ObservedWebhook[]): JsonSchema {
  const allOf = webhooks.flatMap(({ uid, webhook, deliveries, paths }) => {
    const tree = buildTree(paths);
    if (!tree) return [];
    const byUid = { properties: { webhook_ids: { contains: { const: uid } } }, required: ['webhook_ids'] };
    const byName = { properties: { webhook: { const: webhook } }, required: ['webhook'] };
    const selects = { anyOf: [byUid, byName] };
    const payload = toFields([tree], deliveries);
    return [
      {
        if: { properties: { filter: selects }, required: ['filter'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: { properties: { filter: { properties: { payload } } } },
      },
    ];
  });
  const names = webhooks.map(({ webhook }) => webhook);
  const trigger = ['properties', 'triggers', 'items'];
  const named = extend(automation, [...trigger, 'properties', 'filter', 'properties', 'webhook'], {
    // Any other name stays valid: of a webhook that is not applied yet.
    anyOf: [{ enum: names }, {}],
  });
  return extend(names.length === 0 ? automation : named, trigger, { allOf });
}

/** Adds keys to the object at a path. */
function extend(schema: JsonSchema, [key, ...rest]: readonly string[], added: JsonSchema): JsonSchema {
  if (key === undefined) return { ...schema, ...added };
  return { ...schema, [key]: extend((schema[key] ?? {}) as JsonSchema, rest, added) };
}

function toFields(trees: readonly ObservedTree[], deliveries: number): JsonSchema {
  const fields = new Map<string, ObservedTree[]>();
  for (const { fields: found } of enterArrays(trees))
    for (const [key, child] of found) fields.set(key, [...(fields.get(key) ?? []), child]);
  const properties = [...fields].map(([key, children]) => [key, toField(children, deliveries)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Completes the same fields below `$none`. */
function addNone(fields: JsonSchema): JsonSchema {
  return { ...fields, properties: { ...(fields.properties as JsonSchema), $none: fields } };
}

function toField(trees: readonly ObservedTree[], deliveries: number): JsonSchema {
  const found = enterArrays(trees);
  const types = [...new Set(found.flatMap(({ observed }) => observed.types.map(({ type }) => type)))];
  const values = [...new Set(found.flatMap(({ observed }) => observed.examples))];
  const count = Math.max(...trees.map(({ observed }) => observed.deliveries));
  return {
    description: `Observed in ${count} of ${deliveries} deliveries: ${types.join(' or ')}.`,
    anyOf: [
      // Any value of a filter stays valid.
      { $ref: '#/definitions/filterValue' },
      ...(values.length > 0 ? [{ type: 'array', items: { enum: values } }] : []),
      ...(found.some(({ fields }) => fields.size > 0) ? [addNone(toFields(trees, deliveries))] : []),
    ],
  };
}
