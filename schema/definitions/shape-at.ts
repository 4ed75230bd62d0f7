import { z } from 'zod';

/** The keys that a shape knows at a path. */
export function findKeys(shape: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const keys = findShapes(shape, path)
    .flatMap(unwrap)
    .flatMap(found => (found instanceof z.ZodObject ? Object.keys(found.shape) : []));
  return [...new Set(keys)];
}

/** The values that a shape allows at a path, if it lists them. */
export function findValues(shape: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  return findShapes(shape, path)
    .flatMap(unwrap)
    .flatMap(found => {
      if (found instanceof z.ZodEnum) return found.options.map(String);
      return found instanceof z.ZodLiteral ? [...found.values].map(String) : [];
    });
}

/** The description of a shape at a path. */
export function findDescription(shape: z.core.$ZodType, path: readonly PropertyKey[]): string | undefined {
  const [found] = findShapes(shape, path);
  return found && z.globalRegistry.get(found)?.description;
}

/** The shape at a path; several if the path leads through a union. */
function findShapes(shape: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType[] {
  const [step, ...rest] = path;
  if (step === undefined) return [shape];
  return unwrap(shape).flatMap(found => {
    if (found instanceof z.ZodArray) return findShapes(found.element, rest);
    if (!(found instanceof z.ZodObject) || !Object.hasOwn(found.shape, step)) return [];
    return findShapes(found.shape[String(step)], rest);
  });
}

/** Removes wrappers such as optional and default; a union becomes its options. */
function unwrap(shape: z.core.$ZodType): z.core.$ZodType[] {
  if (shape instanceof z.ZodUnion) return shape.options.flatMap(unwrap);
  if (shape instanceof z.ZodPipe) return unwrap(shape.in);
  const { def } = shape._zod;
  return 'innerType' in def && def.innerType instanceof z.core.$ZodType ? unwrap(def.innerType) : [shape];
}
