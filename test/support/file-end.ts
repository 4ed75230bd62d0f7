import { afterAll } from 'vitest';

type Close = () => unknown;
const open: Close[] = [];

/** Closes something at the end of the test file that runs, unlike an `afterAll` of a module that several files share. */
export function onFileFinished(close: Close): void {
  open.push(close);
}

/** Each test file calls this (`setupFiles`). */
export function closeAtFileEnd(): void {
  afterAll(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });
}
