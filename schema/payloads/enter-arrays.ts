/** Returns the nodes of a path, and the elements of those that are arrays: filters search one level of array. */
export function enterArrays<T extends { readonly elements: T | undefined }>(
  nodes: readonly T[],
): readonly T[] {
  return nodes.flatMap(node => (node.elements ? [node, node.elements] : [node]));
}
