import { z } from 'zod';

/** Renders a shape as a JSON Schema for completion and help in editors. Draft 7, because every editor supports it. */
export function renderJsonSchema(shape: z.ZodType, title: string, description: string): string {
  const schema = z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // `z.int()` adds this maximum to every integer; it helps nobody.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // A default that the key itself does not allow stands for a missing key. Editors would insert it.
      if (Array.isArray(jsonSchema.default) && jsonSchema.minItems) delete jsonSchema.default;
    },
  });
  return `${JSON.stringify({ title, description, ...schema }, null, 2)}\n`;
}
