import { z } from 'zod';
import { namePattern, nameRule } from './name.ts';
import { secretNamePattern, secretNameRule } from './secret-name.ts';

/** The name of a webhook, an automation or a factory. */
export const nameShape = z.string().regex(namePattern, { error: `use ${nameRule}` });

/** The name of a team secret. The message does not quote it: somebody may have written the secret itself. */
export const secretNameShape = z
  .string()
  .superRefine((name, context) => {
    if (secretNamePattern.test(name)) return;
    const message = 'this is not a valid name for a team secret';
    // As `addMistake` does, which definitions import beside this.
    const params = { code: 'definition/value', hint: `use ${secretNameRule}` };
    context.addIssue({ code: 'custom', message, params });
  })
  .meta({ pattern: secretNamePattern.source });
