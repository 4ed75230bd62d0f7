import { z } from 'zod';
import { fieldPathPattern, findPathMistake } from '../field-path.ts';
import { addMistake } from './add-mistake.ts';

/** @limit Longest path of a field of the payload, in characters: paths in real payloads are far shorter. */
const fieldPathCharsMax = 500;

/** The path of a field of the payload, such as `$.issue.id`. */
export const fieldPath = z
  .string()
  .refine(text => text.length <= fieldPathCharsMax, {
    abort: true,
    error: 'the path of a field is too long',
    params: { hint: `write at most ${fieldPathCharsMax} characters` },
  })
  .superRefine((text, context) => {
    const mistake = findPathMistake(text);
    if (mistake) addMistake(context, [], mistake.message, { code: 'definition/value', hint: mistake.hint });
  })
  .meta({ pattern: fieldPathPattern.source, maxLength: fieldPathCharsMax, examples: ['$.issue.id'] });
