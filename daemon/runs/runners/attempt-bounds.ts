import { z } from 'zod';

/** @limit Longest time that any setting of runs can have, in seconds: a day; a longer one is probably a mistake. */
const runSecondsMax = 86_400;
/** @limit Output kept of one attempt at a run, in bytes: enough for a log that a person reads. */
const runOutputBytes = 1024 * 1024;
/** @limit Most output that an operator can keep of one attempt, in bytes: a few runs cannot fill the disk. */
const runOutputBytesMax = 64 * 1024 * 1024;

/** A number of things, at least one. */
export const count = z.int().min(1);
/** A time in seconds. */
export const seconds = z.number().positive().max(runSecondsMax);
/** The setting `outputBytes` of a runner whose attempts have output. */
export const outputBytes = count
  .max(runOutputBytesMax)
  .default(runOutputBytes)
  .describe('Maximum output to keep of one attempt, in bytes.');
