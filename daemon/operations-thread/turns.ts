import type { CallVerb } from '../../store/call-thread.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import type { MainVerbs } from './wire.ts';

/**
 * Lets the main thread give others their turn while a job waits for other processes. Fails if the job waits already: it has
 * only one turn to give.
 */
export function letOthersRun(call: CallVerb<MainVerbs>, job: number): ReadOutside {
  let isWaiting = false;
  return async read => {
    if (isWaiting) throw new Error('an operation can wait for other processes only once at a time');
    isWaiting = true;
    void call('waits', [job]);
    try {
      return await read();
    } finally {
      await call('goesOn', [job]);
      isWaiting = false;
    }
  };
}
