import { z } from 'zod';

const marked = z.registry<{ readonly isOutside: true }>();

/** Marks a shape whose texts come from senders, runs or providers: an agent gets them as data, cut and masked. */
export function outside<Shape extends z.ZodType>(shape: Shape): Shape {
  marked.add(shape, { isOutside: true });
  return shape;
}

/** Changes each text from outside in a value that has the shape. */
export function mapOutside(
  shape: z.core.$ZodType,
  value: unknown,
  change: (text: string) => string,
): unknown {
  if (marked.has(shape)) return mapTexts(value, change);
  if (typeof value !== 'object' || value === null) return value;
  const parts = listParts(shape);
  const map = (key: string, part: unknown) => {
    const inner = parts.get(key) ?? parts.get(anyKey);
    return inner ? mapOutside(inner, part, change) : part;
  };
  if (Array.isArray(value)) return value.map(element => map(anyKey, element));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, map(key, part)]));
}

/** Lists the paths of all free texts of a shape that are not marked. */
export function listOwnTexts(shape: z.core.$ZodType, path = ''): string[] {
  if (marked.has(shape)) return [];
  const { type } = unwrap(shape)._zod.def;
  if (['string', 'unknown', 'any', 'custom'].includes(type)) return [path];
  return [...listParts(shape)].flatMap(([key, part]) =>
    listOwnTexts(part, key === anyKey ? path : `${path}.${key}`),
  );
}

/** Whether a shape has a text from outside. */
export function hasOutside(shape: z.core.$ZodType): boolean {
  return marked.has(shape) || [...listParts(shape).values()].some(hasOutside);
}

const anyKey = '*';

/** The shapes below a shape, by key. Of a union, a key has the shape of the first alternative with it that is marked. */
function listParts(shape: z.core.$ZodType): Map<string, z.core.$ZodType> {
  const { def } = unwrap(shape)._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'object') return new Map(Object.entries(def.shape));
  if (def.type === 'array') return new Map([[anyKey, def.element]]);
  if (def.type === 'record') return new Map([[anyKey, def.valueType]]);
  if (def.type !== 'union') return new Map();
  const parts = def.options.flatMap(option => [...listParts(option)]);
  return new Map(parts.sort(([, a], [, b]) => Number(hasOutside(a)) - Number(hasOutside(b))));
}

function unwrap(shape: z.core.$ZodType): z.core.$ZodType {
  const { def } = shape._zod as z.core.$ZodTypes['_zod'];
  return 'innerType' in def ? unwrap(def.innerType) : shape;
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map(element => mapTexts(element, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, change)]));
}
