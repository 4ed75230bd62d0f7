import { type Adapter, Low } from 'lowdb';
import type { z } from 'zod';
import { replaceFile, sweepTemporaries } from '../../durable-file.ts';
import { parseJsonFile } from '../../parse-json-file.ts';
import { fileFailure } from '../../store-error.ts';
import { readText } from './read-text.ts';

/**
 * Opens a lowdb database over one JSON file. Reading checks the shape; writing replaces the file atomically and durably,
 * unlike lowdb's own file adapter. Writers hold the file's lock.
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
    const text = await readText(this.#file);
    return text === undefined ? null : parseJsonFile(this.#file, text, this.#shape);
  }

  async write(data: T): Promise<void> {
    const text = `${JSON.stringify(data, null, 2)}\n`;
    await sweepTemporaries(this.#file)
      .then(() => replaceFile(this.#file, text))
      .catch(fileFailure('unwritable', this.#file));
  }
}
