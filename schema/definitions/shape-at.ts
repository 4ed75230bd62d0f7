import { z } from 'zod';
import { readField } from '../field-path.ts';

/** A shape with the value that it checked, which chooses among the options of a union. */
export interface Checked {
  readonly shape: z.core.$ZodType;
  readonly value: unknown;
}

type Path = readonly PropertyKey[];

/** The keys that a shape knows at a path. */
export function findKeys(checked: Checked, path: Path): string[] {
  const keys = findShapes(checked, path)
    .flatMap(unwrap)
    .flatMap(({ shape }) => (shape instanceof z.ZodObject ? Object.keys(shape.shape) : []));
  return [...new Set(keys)];
}

/** The other choices at a path that know a key, such as `kind: http`. */
export function findChoicesWith(checked: Checked, path: Path, key: string): string[] {
  return findShapes(checked, path).flatMap(({ shape }) => {
    const union = strip(shape);
    if (!(union instanceof z.ZodDiscriminatedUnion)) return [];
    const { discriminator } = union.def;
    return union.options
      .map(option => ({ shape: option, value: undefined }))
      .filter(option => findKeys(option, []).includes(key))
      .flatMap(option => findValues(option, [discriminator]).map(value => `${discriminator}: ${value}`));
  });
}

/** The values that a shape allows at a path, if it lists them. */
export function findValues(checked: Checked, path: Path): string[] {
  return findShapes(checked, path)
    .flatMap(unwrap)
    .flatMap(({ shape }) => {
      if (shape instanceof z.ZodEnum) return shape.options.map(String);
      return shape instanceof z.ZodLiteral ? [...shape.values].map(String) : [];
    });
}

/** The description of a shape at a path. */
export function findDescription(checked: Checked, path: Path): string | undefined {
  const [found] = findShapes(checked, path);
  return found && z.globalRegistry.get(found.shape)?.description;
}

/** An example of the text at a path, if the shape gives one and the value that is there would be no better in quotes. */
export function findExample(checked: Checked, path: Path): string | undefined {
  return findShapes(checked, path)
    .flatMap(unwrap)
    .filter(({ shape, value }) => !z.safeParse(shape, String(value)).success)
    .flatMap(({ shape }) => z.globalRegistry.get(shape)?.examples ?? [])
    .find(example => typeof example === 'string');
}

/** Whether a shape takes this text at a path. Where anything may be, as in filters, texts are the items of lists. */
export function takesText(checked: Checked, path: Path, text: string): boolean {
  return findShapes(checked, path).some(({ shape }) =>
    shape instanceof z.ZodUnknown ? typeof path.at(-1) === 'number' : z.safeParse(shape, text).success,
  );
}

/** The shape at a path; several if the path leads through a union that the value chooses no option of. */
function findShapes(checked: Checked, path: Path): Checked[] {
  const [step, ...rest] = path;
  if (step === undefined) return [checked];
  const value = readField(checked.value, [step]);
  return unwrap(checked).flatMap(({ shape }) => {
    if (shape instanceof z.ZodUnknown) return [{ shape, value }];
    if (shape instanceof z.ZodArray) return findShapes({ shape: shape.element, value }, rest);
    if (shape instanceof z.ZodRecord) return findShapes({ shape: shape.valueType, value }, rest);
    if (!(shape instanceof z.ZodObject) || !Object.hasOwn(shape.shape, step)) return [];
    return findShapes({ shape: shape.shape[String(step)], value }, rest);
  });
}

/** Removes wrappers; a union becomes its options. */
function unwrap({ shape, value }: Checked): Checked[] {
  const bare = strip(shape);
  if (!(bare instanceof z.ZodUnion)) return [{ shape: bare, value }];
  return chooseOptions(bare, value).flatMap(option => unwrap({ shape: option, value }));
}

/** The options of a union, or only the one that the value names. */
function chooseOptions(union: z.ZodUnion, value: unknown): readonly z.core.$ZodType[] {
  if (!(union instanceof z.ZodDiscriminatedUnion)) return union.options;
  const { discriminator } = union.def;
  const named = String(readField(value, [discriminator]));
  const chosen = union.options.filter(shape => findValues({ shape, value }, [discriminator]).includes(named));
  return chosen.length > 0 ? chosen : union.options;
}

/** Removes wrappers such as optional and default, and what happens before or after a value is checked. */
function strip(shape: z.core.$ZodType): z.core.$ZodType {
  if (shape instanceof z.ZodPipe) return strip(shape.in instanceof z.ZodTransform ? shape.out : shape.in);
  const { def } = shape._zod;
  return 'innerType' in def && def.innerType instanceof z.core.$ZodType ? strip(def.innerType) : shape;
}
