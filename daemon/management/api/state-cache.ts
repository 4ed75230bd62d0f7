import type { AppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { AppliedStates } from '../../../store/ports/store.ts';

/** Reads applied states only when they have changed. */
export interface StateCache {
  /** Reads the stored state. Fails as the store does. */
  read(factory: string): Promise<AppliedState>;
  /**
   * Reads the state that deliveries are served by: the stored one or, while that cannot be read, the last good one. Fails
   * with `state-unreadable` if there is neither.
   */
  readServed(factory: string): Promise<AppliedState>;
}

export function openStateCache(appliedStates: AppliedStates): StateCache {
  const known = new Map<string, { readonly version: string | undefined; readonly state: AppliedState }>();
  const read = async (factory: string) => {
    const before = known.get(factory);
    const version = await appliedStates.readVersion(factory);
    if (before && before.version === version) return before.state;
    const state = await appliedStates.read(factory);
    if (state.serial > 0 && !state.isDamaged) known.set(factory, { version, state });
    return state;
  };
  const readServed = async (factory: string) => {
    try {
      const state = await read(factory);
      if (state.isDamaged) throw new Error('the applied state is damaged');
      return state.serial > 0 ? state : (known.get(factory)?.state ?? state);
    } catch (cause) {
      const lastGood = known.get(factory);
      if (lastGood) return lastGood.state;
      const detail = `the applied state of the factory ${factory} cannot be read`;
      throw new Refusal('state-unreadable', { detail }, { cause });
    }
  };
  return { read, readServed };
}
