import { readFile } from 'node:fs/promises';
import { type Adapter, Low } from 'lowdb';
import type { z } from 'zod';
import { fileFailure, StoreError } from '../../store-error.ts';
import { replaceFile, sweepTemporaries } from './durable-file.ts';

/**
 * A lowdb database over one JSON file. Reading checks the shape; writing replaces the file atomically and durably,
 * which lowdb's own file adapter does not. Writers hold the file's lock.
 */
export async function openJsonFile<T extends object>(
  file: string,
  shape: z.ZodType<T>,
  whenMissing: T,
): Promise<Low<T>> {
  const database = new Low(new DurableJsonAdapter(file, shape), whenMissing);
  await database.read();
  return database;
}

class DurableJsonAdapter<T> implements Adapter<T> {
  readonly #file: string;
  readonly #shape: z.ZodType<T>;

  constructor(file: string, shape: z.ZodType<T>) {
    this.#file = file;
    this.#shape = shape;
  }

  async read(): Promise<T | null> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      return fileFailure('unreadable', this.#file)(error);
    });
    return text === null ? null : parseJsonFile(this.#file, text, this.#shape);
  }

  async write(data: T): Promise<void> {
    const text = `${JSON.stringify(data, null, 2)}\n`;
    await sweepTemporaries(this.#file)
      .then(() => replaceFile(this.#file, text))
      .catch(fileFailure('unwritable', this.#file));
  }
}

/** The checked content of a JSON file of ours. Fails with `newer-format` or `corrupt`. */
export function parseJsonFile<T>(file: string, text: string, shape: z.ZodType<T>): T {
  const value = parseJson(file, text);
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
  throw new StoreError('corrupt', `${file} is not as hookmill writes it, at ${place}: ${issue?.message}`);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StoreError('corrupt', `${file} is not JSON; it was edited or cut off`, { cause });
  }
}
