import type { z } from 'zod';
import { parseJsonText } from '../json/parse-json-text.ts';
import { StoreError } from './ports/store-error.ts';

/** Parses and checks a JSON file that hookmill wrote. Fails with `newer-format` or `corrupt`. */
export function parseJsonFile<T>(file: string, text: string, shape: z.ZodType<T>): T {
  return checkShape(file, parseFileText(file, text), shape);
}

/** Checks the content of a JSON file that hookmill wrote. Fails with `newer-format` or `corrupt`. */
export function checkShape<T>(file: string, value: unknown, shape: z.ZodType<T>): T {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') || 'its top level';
  if (place === 'formatVersion' && typeof value === 'object') {
    throw new StoreError(
      'newer-format',
      `${file} was written by another version of hookmill; use that version`,
    );
  }
  throw new StoreError('corrupt', `${file} has an invalid value at ${place}: ${issue?.message}`);
}

export function parseFileText(file: string, text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw new StoreError('corrupt', `${file} is not valid JSON: it was edited or truncated`, { cause });
  }
}
