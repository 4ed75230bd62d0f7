import type { AppliedState } from '../schema/applied-state.ts';
import { Refusal } from '../schema/refusal.ts';
import { isEdited, toAppliedSource } from './applied-source.ts';
import type { Factory } from './factory.ts';

/** A factory under management, with the serial that a change was decided on, where it names one. */
export interface ManagedFactory extends Factory {
  readonly ifSerial?: number | undefined;
}

export interface Changed<T> {
  readonly state: AppliedState;
  readonly result: T;
}

type Content = Pick<AppliedState, 'webhooks' | 'automations'>;

/**
 * Makes one change to a factory's applied state under its lock. `change` gets the current state and gives the next
 * webhooks or automations, or refuses, and then nothing is changed.
 * Fails with `serial-moved` if another change came between, and as `AppliedStates.change` does.
 */
export async function changeFactory<T>(
  factory: ManagedFactory,
  change: (state: AppliedState) => Promise<{ readonly next: Partial<Content>; readonly result: T }>,
): Promise<Changed<T>> {
  let changed: Changed<T> | undefined;
  await factory.store.appliedStates.change(factory.name, async state => {
    if (factory.ifSerial !== undefined && factory.ifSerial !== state.serial) {
      const detail = `the serial is ${state.serial}, not ${factory.ifSerial}: read again`;
      throw new Refusal('serial-moved', { detail });
    }
    const { next, result } = await change(state);
    const content = { webhooks: state.webhooks, automations: state.automations, ...next };
    const source = state.source ?? { kind: 'dashboard' };
    const nextState: AppliedState = {
      ...state,
      appliedAt: factory.now().toISOString(),
      // A state that somebody edited by hand stays recognisable.
      source: isEdited(state) ? source : toAppliedSource(source, content),
      ...content,
    };
    changed = { state: { ...nextState, serial: state.serial + 1 }, result };
    return nextState;
  });
  if (!changed) throw new Error('a factory was changed without a result');
  return changed;
}
