import type { FieldPath } from '../field-path.ts';
import type { PayloadFilter } from '../filters/clause.ts';
import { judgeByObservation, type ObservedMistake } from './judge-by-observation.ts';
import { type Observation, observedTypes } from './observation.ts';

/** Finds the reason why a path has no value in any observed payload; undefined if it may have one. */
export function judgePathByObservation(
  path: FieldPath,
  text: string,
  observation: Observation,
): Pick<ObservedMistake, 'message' | 'hint' | 'isCertain'> | undefined {
  const keys = path.filter(step => typeof step === 'string');
  // A filter judges the elements of a list together, so an index is no part of it.
  const filter = keys.reduceRight<object>((below, key) => ({ [key]: below }), { exists: true });
  const [missing] = keys.length === 0 ? [] : judgeByObservation(filter as PayloadFilter, observation);
  if (missing) return missing;
  const { null: _, object, array, ...scalars } = sumTypes(path, observation);
  if (object + array === 0 || Object.values(scalars).some(values => values > 0)) return undefined;
  const [what, example] = object > 0 ? ['an object', `${text}.id`] : ['a list', `${text}[0]`];
  return {
    message: `${text} is ${what} in the last ${observation.deliveries} deliveries, which counts as no value`,
    hint: `name a part of it, such as ${example}`,
    isCertain: true,
  };
}

/** Counts the values of each type at a path. */
function sumTypes(path: FieldPath, { root }: Observation) {
  const nodes = path.reduce(
    (above, step) =>
      above.flatMap(node => (typeof step === 'number' ? node.elements : node.fields.get(step)) ?? []),
    [root],
  );
  const sum = { null: 0, boolean: 0, integer: 0, number: 0, string: 0, object: 0, array: 0 };
  for (const { types } of nodes) for (const type of observedTypes) sum[type] += types[type];
  return sum;
}
