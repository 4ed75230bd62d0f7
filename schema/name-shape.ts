import { z } from 'zod';
import { namePattern, nameRule } from './name.ts';

/** The name of a webhook, an automation or a factory. */
export const nameShape = z.string().regex(namePattern, { error: `use ${nameRule}` });
