import { z } from 'zod';

/** A commit, as users see it. Author and subject are the committer's raw text: escape them where they are shown. */
export const commitShape = z.strictObject({
  revision: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
  author: z.string(),
  subject: z.string(),
  committedAt: z.string(),
});

export type Commit = z.output<typeof commitShape>;
