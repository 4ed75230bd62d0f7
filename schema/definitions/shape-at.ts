import { z } from 'zod';

/** The keys that a shape knows at a path. */
export function keysAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const keys = shapesAt(shape, path)
    .flatMap(bare)
    .flatMap(found => {
      return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
    });
  return [...new Set(keys)];
}

/** The values that a shape allows at a path, where it lists them. */
export function valuesAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  return shapesAt(shape, path)
    .flatMap(bare)
    .flatMap(found => {
      if (found instanceof z.ZodEnum) return found.options.map(String);
      return found instanceof z.ZodLiteral ? [...found.values].map(String) : [];
    });
}

/** What a shape says of itself at a path. */
export function descriptionAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): string | undefined {
  const [found] = shapesAt(shape, path);
  return found && z.globalRegistry.get(found)?.description;
}

/** One shape, or several where a union leads to them. */
function shapesAt(shape: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType[] {
  const [step, ...rest] = path;
  if (step === undefined) return [shape];
  return bare(shape).flatMap(found => {
    if (found instanceof z.ZodArray) return shapesAt(found.element, rest);
    if (!(found instanceof z.ZodObject) || !Object.hasOwn(found.shape, step)) return [];
    return shapesAt(found.shape[String(step)], rest);
  });
}

/** Without what is wrapped around it: optional, default and the like; of a union, its options. */
function bare(shape: z.core.$ZodType): z.core.$ZodType[] {
  if (shape instanceof z.ZodUnion) return shape.options.flatMap(bare);
  if (shape instanceof z.ZodPipe) return bare(shape.in);
  const { def } = shape._zod;
  return 'innerType' in def && def.innerType instanceof z.core.$ZodType ? bare(def.innerType) : [shape];
}
