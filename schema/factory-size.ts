import type { AutomationDefinition } from './definitions/automation-definition.ts';
import { countParts } from './filters/payload-filter.ts';

/** @limit Most definition files, and most automations, of a factory: large factories have some hundred. */
export const definitionFilesMax = 20_000;
/** @limit Most bytes of a factory's definition files, and of its automations as JSON (8 MiB): everything that deliveries are judged by stays in memory. */
export const factoryBytesMax = 8 * 1024 * 1024;
/** @limit Most keys and values in all payload filters of a factory: compiling them takes well under a second. */
const factoryFilterPartsMax = 200_000;

/** Describes which limit of a factory its automations exceed; undefined if they exceed none. */
export function describeExcess(automations: readonly AutomationDefinition[]): string | undefined {
  if (automations.length > definitionFilesMax)
    return `the factory has ${automations.length} automations, and at most ${definitionFilesMax} are allowed`;
  const bytes = Buffer.byteLength(JSON.stringify(automations));
  if (bytes > factoryBytesMax)
    return `the automations have ${bytes} bytes as JSON, and at most ${factoryBytesMax} are allowed`;
  const parts = automations.reduce((sum, { triggers }) => sum + countTriggerParts(triggers), 0);
  if (parts <= factoryFilterPartsMax) return undefined;
  return `the payload filters have ${parts} keys and values, and at most ${factoryFilterPartsMax} are allowed in one factory`;
}

function countTriggerParts(triggers: AutomationDefinition['triggers']): number {
  return triggers.reduce((sum, { filter }) => {
    const { keys, values } = countParts(filter.payload ?? {});
    return sum + keys + values;
  }, 0);
}
