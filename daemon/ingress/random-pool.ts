import { randomFillSync } from 'node:crypto';

const poolBytes = 8 * 1024;

/** Random bytes out of a pool: asking the system for sixteen at a time costs more than the rest of an id. */
export function randomPool(): (count: number) => Uint8Array {
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
