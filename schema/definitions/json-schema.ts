import { z } from 'zod';

/**
 * The JSON Schema by which an editor completes and explains what a shape describes, as text. It is of draft 7, the one
 * that every editor's YAML support reads.
 */
export function renderJsonSchema(shape: z.ZodType, title: string, description: string): string {
  const schema = z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // What `z.int()` implies for every integer tells nobody anything.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return `${JSON.stringify({ title, description, ...schema }, null, 2)}\n`;
}
