import { didYouMean } from '../../schema/text/suggestion.ts';

/** Says that there is no such signature scheme, and how to find the right one. `otherIds` are accepted besides `schemeIds`. */
export function describeUnknownScheme(
  id: string,
  schemeIds: readonly string[],
  otherIds: readonly string[] = [],
): string {
  const others = otherIds.length > 0 ? `, or use ${otherIds.join(' or ')}` : '';
  const hint =
    didYouMean(id, [...otherIds, ...schemeIds]) ??
    `run \`hookmill schemes list\` to see the known ones${others}`;
  return `unknown signature scheme "${id}"; ${hint}`;
}
