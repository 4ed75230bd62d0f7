import { isDeepStrictEqual } from 'node:util';
import type { AppliedState } from '../../schema/applied-state.ts';
import { describeExcess } from '../../schema/factory-size.ts';
import { Refusal } from '../../schema/refusal.ts';
import { type AppliedContent, isEdited, toAppliedSource } from '../applied-source.ts';
import type { Factory } from '../factory.ts';
import { keepDestroyed } from '../plan/destroyed-webhooks.ts';

/** A factory, with the serial of the applied state that a change is based on, if the caller named one. */
export interface ManagedFactory extends Factory {
  readonly ifSerial?: number | undefined;
}

export interface Changed<T> {
  readonly state: AppliedState;
  readonly result: T;
}

/**
 * Changes a factory's applied state under its lock. `change` gets the current state and returns the next webhooks or
 * automations; if it refuses, or if they are equal to the current ones, nothing is written.
 * Fails with `serial-moved` if the state has another serial, with `factory-too-large`, and as `AppliedStates.change`
 * does.
 */
export async function changeFactory<T>(
  factory: ManagedFactory,
  change: (state: AppliedState) => Promise<{ readonly next: Partial<AppliedContent>; readonly result: T }>,
): Promise<Changed<T>> {
  return factory.store.appliedStates.change(factory.name, async state => {
    requireSerial(state, factory.ifSerial);
    const { next, result } = await change(state);
    const { webhooks, automations } = state;
    const content = { webhooks, automations, ...next };
    if (isDeepStrictEqual(content, { webhooks, automations })) return { result };
    const excess = next.automations && describeExcess(next.automations);
    if (excess !== undefined) throw new Refusal('factory-too-large', { detail: excess });
    const source = state.source ?? { kind: 'dashboard' };
    const now = factory.now();
    const nextState = {
      ...state,
      appliedAt: now.toISOString(),
      // Keeps the old digest if someone edited the state by hand, so that the edit still shows.
      source: isEdited(state) ? source : toAppliedSource(source, content),
      ...content,
    };
    // A webhook that is deleted here has no definition that could come back.
    return { next: keepDestroyed(nextState, [], now), result };
  });
}

/** Fails with `serial-moved` if the caller named a serial that the state no longer has. */
export function requireSerial({ serial }: AppliedState, ifSerial: number | undefined): void {
  if (ifSerial === undefined || ifSerial === serial) return;
  const detail = `the serial is now ${serial}, not ${ifSerial}; read the state again`;
  throw new Refusal('serial-moved', { detail });
}

/** Fails with `request-invalid` if the request names a value for a field that only answers have, and it is not the current one. */
export function requireAsShown(request: object, shown: object): void {
  const current = new Map<string, unknown>(Object.entries(shown));
  const mistakes = Object.entries(request).flatMap(([key, value]) => {
    if (value === undefined || isDeepStrictEqual(value, current.get(key))) return [];
    const message = `${key} cannot be changed here`;
    return [{ pointer: `/${key}`, code: 'definition/value', message, hint: `leave ${key} out` }];
  });
  if (mistakes.length > 0) throw new Refusal('request-invalid', { mistakes });
}
