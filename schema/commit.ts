import { z } from 'zod';

/** A commit as it is told of. Author and subject are the committer's text, raw: escape them where they are shown. */
export const commitShape = z.strictObject({
  revision: z.string().regex(/^[0-9a-f]{40}$/),
  author: z.string(),
  subject: z.string(),
  committedAt: z.string(),
});

export type Commit = z.output<typeof commitShape>;
