import type { AutomationDefinition } from './definitions/automation-definition.ts';
import { countParts } from './filters/payload-filter.ts';

/** @limit Most webhooks in one factory, as the specification of the service says. */
export const webhooksMax = 20;
/** @limit Most definition files, and most automations, of a factory: large factories have some hundred. */
export const definitionFilesMax = 20_000;
/** @limit Most bytes of a factory's definition files, and of its automations as JSON (8 MiB): everything that deliveries are judged by stays in memory. */
export const factoryBytesMax = 8 * 1024 * 1024;
/** @limit Most keys and values in all filters of a factory: compiling them takes well under a second. */
const factoryFilterPartsMax = 200_000;
/** @limit Most patterns of `$like` and `$not_like` in all filters of a factory: no index finds the ones that match, so a delivery may try each. */
const factoryPatternsMax = 2_000;

/** Describes the first limit of a factory that its automations exceed; undefined if they exceed none. */
export function describeExcess(automations: readonly AutomationDefinition[]): string | undefined {
  const findExcess = measureFactory();
  for (const automation of automations) {
    const excess = findExcess(automation);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

/** Takes the automations of a factory one by one, and describes the limit that they exceed together, as soon as they do. */
export function measureFactory(): (automation: AutomationDefinition) => string | undefined {
  const size = { automations: 0, bytes: 0, parts: 0, patterns: 0 };
  return automation => {
    size.automations++;
    size.bytes += Buffer.byteLength(JSON.stringify(automation));
    for (const { filter } of automation.triggers) {
      for (const part of [filter.payload ?? {}, { ...filter.headers }]) {
        const { keys, values, patterns } = countParts(part);
        size.parts += keys + values;
        size.patterns += patterns;
      }
    }
    if (size.automations > definitionFilesMax)
      return `the factory has more than ${definitionFilesMax} automations`;
    if (size.bytes > factoryBytesMax)
      return `the automations have more than ${factoryBytesMax} bytes as JSON, the most that one factory may have`;
    if (size.parts > factoryFilterPartsMax)
      return `the filters have more than ${factoryFilterPartsMax} keys and values, the most that one factory may have`;
    if (size.patterns <= factoryPatternsMax) return undefined;
    return `the filters have more than ${factoryPatternsMax} patterns of $like and $not_like, the most that one factory may have`;
  };
}
