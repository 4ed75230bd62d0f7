import type { AppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { AppliedStates } from '../../../store/ports.ts';

/**
 * Reads applied states only when they have changed. While a stored state cannot be read, the last good one counts, as for
 * deliveries. Fails with `state-unreadable` if there is none.
 */
export function openStateCache(appliedStates: AppliedStates): (factory: string) => Promise<AppliedState> {
  const known = new Map<string, { readonly version: string | undefined; readonly state: AppliedState }>();
  return async factory => {
    const before = known.get(factory);
    try {
      const version = await appliedStates.readVersion(factory);
      if (before && before.version === version) return before.state;
      const state = await appliedStates.read(factory);
      if (before && state.serial === 0) return before.state;
      known.set(factory, { version, state });
      return state;
    } catch (cause) {
      if (before) return before.state;
      const detail = `the applied state of the factory ${factory} cannot be read`;
      throw new Refusal('state-unreadable', { detail }, { cause });
    }
  };
}
