import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { StorePlace } from '../store/ports/store.ts';

/** @limit Memory for what a thread that works on definitions keeps, in MiB: the largest factory that is allowed takes two thirds. */
const keptMiB = 96;
/** @limit Memory for what such a thread has just made, in MiB: more of it is only filled with what nobody needs any more. */
const freshMiB = 8;

// To terminate a thread while it loads SQLite would end the whole process
// (https://nodejs.org/api/n-api.html#napi_fatal_error).
/** @limit Time that such a thread has for the turn that it is in when it shall end, in ms: loading SQLite takes a few. */
export const endDefinitionsMs = 500;

/**
 * Starts a thread that works on definitions beside the thread of the ingress. Its script stands beside the `module` that
 * starts it. The thread ends if it needs more memory than it may have.
 */
export function startDefinitionsThread(script: string, module: string, place: StorePlace): Worker {
  // Sources run as .ts, the build as .js.
  return new Worker(new URL(`./${script}${extname(module)}`, module), {
    workerData: place,
    resourceLimits: { maxOldGenerationSizeMb: keptMiB, maxYoungGenerationSizeMb: freshMiB },
  });
}
