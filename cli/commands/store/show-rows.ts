import type { OnRows } from '../../../operations/copy-store.ts';
import { printStatus } from '../../output.ts';

/** Rows between two messages. */
const rowsPerMessage = 100_000;

/** Prints the number of rows that have been copied, from time to time. `done` is a word such as `Copied`. */
export function showRows(done: string): OnRows {
  const copied = { deliveries: 0, runs: 0, unlogged: 0, audit: 0 };
  return (part, count) => {
    const before = copied[part];
    copied[part] += count;
    if (Math.floor(before / rowsPerMessage) === Math.floor(copied[part] / rowsPerMessage)) return;
    printStatus(`${done} ${copied[part]} ${part} …`);
  };
}
