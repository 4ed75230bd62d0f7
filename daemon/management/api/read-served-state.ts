import type { AppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { AppliedStates } from '../../../store/ports/store.ts';

/**
 * Makes a reader of the states that deliveries are served by: the stored one or, while that cannot be read, the last good
 * one. Reading fails with `state-unreadable` if there is neither.
 */
export function openServedStateReader({ read }: Pick<AppliedStates, 'read'>): AppliedStates['read'] {
  const good = new Map<string, AppliedState>();
  return async factory => {
    try {
      const state = await read(factory);
      if (state.isDamaged) throw new Error('the applied state is damaged');
      if (state.serial > 0) good.set(factory, state);
      return good.get(factory) ?? state;
    } catch (cause) {
      const lastGood = good.get(factory);
      if (lastGood) return lastGood;
      const detail = `the applied state of the factory ${factory} cannot be read`;
      throw new Refusal('state-unreadable', { detail }, { cause });
    }
  };
}
