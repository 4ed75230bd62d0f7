import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';

/** Appends batches to a file for the given time, each with an fdatasync. Returns the batches per second. */
export function appendToDisk(file: string, batchBytes: number, seconds: number): number {
  const batch = Buffer.alloc(batchBytes, 'x');
  const descriptor = openSync(file, 'w');
  const startMs = performance.now();
  let batches = 0;
  while (performance.now() - startMs < seconds * 1_000) {
    writeSync(descriptor, batch);
    fdatasyncSync(descriptor);
    batches += 1;
  }
  const elapsedMs = performance.now() - startMs;
  closeSync(descriptor);
  rmSync(file);
  return (batches / elapsedMs) * 1_000;
}
