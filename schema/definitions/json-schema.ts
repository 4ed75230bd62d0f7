import { z } from 'zod';

/** Renders a shape as the JSON Schema that editors complete and explain with: draft 7, which every editor reads. */
export function renderJsonSchema(shape: z.ZodType, title: string, description: string): string {
  const schema = z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // `z.int()` adds this maximum to every integer; it helps nobody.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return `${JSON.stringify({ title, description, ...schema }, null, 2)}\n`;
}
