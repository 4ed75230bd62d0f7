import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/**
 * Mounts a file system of the given size, such as `4m`, at an existing directory until the test ends. Returns false
 * where none may be mounted.
 */
export function mountSmallDisk(directory: string, size: string): boolean {
  // A home must have this mode.
  const options = `size=${size},mode=700`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', directory]);
  });
  return true;
}

/** Writes a file until not one byte more fits on its disk. */
export function fillDisk(file: string): void {
  for (const bytes of [1 << 20, 1 << 12, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
