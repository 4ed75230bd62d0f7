import type { Management } from '../schema/api/answers.ts';
import { ApiProblem, type Instead } from '../schema/api/problems.ts';
import type { AppliedState } from '../schema/applied-state.ts';
import { changeAppliedState } from '../store/embedded/applied-states.ts';
import { isEdited, sealSource } from './applied-source.ts';
import type { Factory } from './apply.ts';

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
 * Makes one change to a factory's applied state under its lock. `change` gets the state in force and gives the next
 * webhooks or automations, or throws an ApiProblem, and nothing is changed.
 * Fails with `serial-moved` if another change came between, and as `changeAppliedState` does.
 */
export async function changeFactory<T>(
  factory: ManagedFactory,
  change: (state: AppliedState) => Promise<{ readonly next: Partial<Content>; readonly result: T }>,
): Promise<Changed<T>> {
  let changed: Changed<T> | undefined;
  await changeAppliedState(factory.home, factory.name, factory.lockTimeoutMs, async state => {
    if (factory.ifSerial !== undefined && factory.ifSerial !== state.serial) {
      const detail = `the serial is ${state.serial}, not ${factory.ifSerial}: read again`;
      throw new ApiProblem('serial-moved', { detail });
    }
    const { next, result } = await change(state);
    const content = { webhooks: state.webhooks, automations: state.automations, ...next };
    const source = state.source ?? { kind: 'dashboard' };
    const nextState: AppliedState = {
      ...state,
      appliedAt: factory.now().toISOString(),
      // What a hand edited stays recognisable as that.
      source: isEdited(state) ? source : sealSource(source, content),
      ...content,
    };
    changed = { state: { ...nextState, serial: state.serial + 1 }, result };
    return nextState;
  });
  if (!changed) throw new Error('a factory was changed without a result');
  return changed;
}

/** Where a factory's webhooks and automations are changed; null: nowhere yet. */
export function managementOf({ source }: Pick<AppliedState, 'source'>): Management | null {
  if (source === null) return null;
  return source.kind === 'directory' ? 'files' : source.kind;
}

/** Throws unless the factory's definitions are changed here; `instead` says how they are changed where they are. */
export function requireManagedHere(state: AppliedState, instead: () => Instead): void {
  const management = managementOf(state);
  if (management === null || management === 'dashboard') return;
  throw new ApiProblem(`managed-in-${management}`, {
    detail: `the factory ${state.factory} is defined by ${originOf(state)}`,
    instead: instead(),
  });
}

/** The definition file that a webhook or automation comes from; null: made in the dashboard. */
export function definitionFileOf(
  { source }: Pick<AppliedState, 'source'>,
  folder: 'webhooks' | 'automations',
  name: string,
): string | null {
  if (source === null || source.kind === 'dashboard') return null;
  const path = source.kind === 'repository' && source.path !== '' ? `${source.path}/` : '';
  return `${path}${folder}/${name}.yaml`;
}

function originOf({ source }: AppliedState): string {
  if (source?.kind === 'repository') return `the branch ${source.branch} of ${source.repository}`;
  return source?.kind === 'directory' ? `the files in ${source.directory}` : 'the dashboard';
}
