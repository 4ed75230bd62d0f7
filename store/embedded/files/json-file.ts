import { hash } from 'node:crypto';
import { type Adapter, Low } from 'lowdb';
import type { z } from 'zod';
import { toCanonicalJson } from '../../../schema/canonical-json.ts';
import { replaceFile, sweepTemporaries } from '../../durable-file.ts';
import { checkShape, parseJsonText } from '../../parse-json-file.ts';
import { fileFailure, StoreError } from '../../store-error.ts';
import { readText } from './read-text.ts';

/**
 * Opens a lowdb database over one JSON file. Reading checks the shape and the digest over the content; writing replaces
 * the file atomically and durably, unlike lowdb's own file adapter. Writers hold the file's lock.
 * A file without a digest is accepted: someone edited it deliberately, or an earlier hookmill wrote it. If content and
 * digest differ, `whenEdited` decides what is read; by default it fails with `corrupt`.
 */
export async function openJsonFile<T extends object>(
  file: string,
  shape: z.ZodType<T>,
  whenMissing: T,
  whenEdited: (data: T) => T = () => refuseEdited(file),
): Promise<Low<T>> {
  const database = new Low(new DurableJsonAdapter(file, shape, whenEdited), whenMissing);
  await database.read();
  return database;
}

function refuseEdited(file: string): never {
  const message = `${file} was changed outside hookmill. Restore a backup, or delete its line "digest" to accept it`;
  throw new StoreError('corrupt', message);
}

class DurableJsonAdapter<T extends object> implements Adapter<T> {
  readonly #file: string;
  readonly #shape: z.ZodType<T>;
  readonly #whenEdited: (data: T) => T;

  constructor(file: string, shape: z.ZodType<T>, whenEdited: (data: T) => T) {
    this.#file = file;
    this.#shape = shape;
    this.#whenEdited = whenEdited;
  }

  async read(): Promise<T | null> {
    const text = await readText(this.#file);
    if (text === undefined) return null;
    const { digest, content } = splitDigest(parseJsonText(this.#file, text));
    const data = checkShape(this.#file, content, this.#shape);
    return digest === undefined || digest === digestContent(content) ? data : this.#whenEdited(data);
  }

  async write(data: T): Promise<void> {
    const text = `${JSON.stringify({ digest: digestContent(data), ...data }, null, 2)}\n`;
    await sweepTemporaries(this.#file)
      .then(() => replaceFile(this.#file, text))
      .catch(fileFailure('unwritable', this.#file));
  }
}

function splitDigest(value: unknown): { readonly digest?: unknown; readonly content: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { content: value };
  const { digest, ...content } = value as { readonly digest?: unknown };
  return { digest, content };
}

/** The same for equal content, however the file is formatted. */
function digestContent(content: unknown): string {
  return hash('sha256', toCanonicalJson(content));
}
