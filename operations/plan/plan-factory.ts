import { addWarnings } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { findDashboardDiagnostics } from '../checks/trigger-diagnostics.ts';
import type { Factory } from '../factory.ts';
import { type Planned, planDefinitions } from './plan-definitions.ts';

/** Plans what applying the definitions to the factory would change now. Nothing is written. */
export async function planFactory(
  { name, store }: Pick<Factory, 'name' | 'store'>,
  definitions: Definitions,
): Promise<Planned> {
  const state = await store.appliedStates.read(name);
  const { planned } = await planDefinitions(state, store.teamSecrets, definitions);
  return {
    ...planned,
    diagnostics: addWarnings(planned.diagnostics, findDashboardDiagnostics(state, 'warning')),
  };
}
