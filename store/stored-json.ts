import { hash } from 'node:crypto';
import type { z } from 'zod';
import { parseJsonText } from '../json/parse-json-text.ts';
import { toCanonicalJson } from '../schema/text/json-text.ts';
import type { StoredDocument } from './ports/documents.ts';
import { StoreError } from './ports/store-error.ts';

/** Parses and checks a JSON file that hookmill wrote. Fails with `newer-format` or `corrupt`. */
export function parseJsonFile<T>(file: string, text: string, shape: z.ZodType<T>): T {
  return checkShape(file, parseFileText(file, text), shape);
}

/** Checks the content of a JSON file that hookmill wrote. Fails with `newer-format` or `corrupt`. */
function checkShape<T>(file: string, value: unknown, shape: z.ZodType<T>): T {
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

function parseFileText(file: string, text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw new StoreError('corrupt', `${file} is not valid JSON: it was edited or truncated`, { cause });
  }
}

/**
 * Parses the text of a document, and checks its shape and the digest over its content. A document without a digest is
 * accepted: someone edited it deliberately. `place` names it in errors.
 */
export function parseDocument<T extends object>(
  place: string,
  text: string,
  { shape, whenEdited = () => refuseEdited(place) }: StoredDocument<T>,
): T {
  const { digest, content } = splitDigest(parseFileText(place, text));
  const data = checkShape(place, content, shape);
  return digest === undefined || digest === digestContent(content) ? data : whenEdited(data);
}

export function renderDocument(data: object): string {
  return `${JSON.stringify({ digest: digestContent(data), ...data }, null, 2)}\n`;
}

function refuseEdited(place: string): never {
  const message = `${place} was changed outside hookmill. Restore a backup, or delete its line "digest" to accept it`;
  throw new StoreError('corrupt', message);
}

function splitDigest(value: unknown): { readonly digest?: unknown; readonly content: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { content: value };
  const { digest, ...content } = value as { readonly digest?: unknown };
  return { digest, content };
}

/** The same for equal content, however the text is formatted. */
function digestContent(content: unknown): string {
  return hash('sha256', toCanonicalJson(content));
}
