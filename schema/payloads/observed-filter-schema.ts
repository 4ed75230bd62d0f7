import { enterArrays } from './observation.ts';
import type { ObservedPath } from './observed-paths.ts';
import { buildTree, type JsonSchema, type ObservedTree } from './observed-schema.ts';

/** The observed paths of one webhook's payloads. */
export interface ObservedWebhook {
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
      ...(found.some(({ fields }) => fields.size > 0) ? [toFields(trees, deliveries)] : []),
    ],
  };
}
