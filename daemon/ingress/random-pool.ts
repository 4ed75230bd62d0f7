import { randomFillSync } from 'node:crypto';

/** Bytes fetched at once: enough for 512 ids. */
const poolBytes = 8 * 1024;

/**
 * Creates a source of random bytes. It fetches many at once, because asking the system for the 16 bytes of each ID
 * costs more than the rest of creating the ID.
 */
export function createRandomPool(): (count: number) => Uint8Array {
  const pool = Buffer.alloc(poolBytes);
  let used = poolBytes;
  return count => {
    if (used + count > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
