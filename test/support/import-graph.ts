import { dirname, join } from 'node:path';
import type { SourceFile } from './source-files.ts';

/** Maps each file to the files it imports, by path. Packages are left out. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Builds the graph of all imports, or only of those that run when a file is loaded. */
export function buildImportGraph(
  sources: readonly SourceFile[],
  kind: 'imports' | 'loads' = 'imports',
): ImportGraph {
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map(source => {
      const { path } = source;
      const files = source[kind]
        .filter(specifier => specifier.startsWith('.'))
        .map(specifier => join(dirname(path), specifier));
      return [path, [...new Set(files)].filter(file => paths.has(file))];
    }),
  );
}

/** Finds the files that a file reaches, itself included. */
export function findReached(graph: ImportGraph, from: string): Set<string> {
  const reached = new Set([from]);
  for (const file of reached) for (const next of graph.get(file) ?? []) reached.add(next);
  return reached;
}

/** Finds the sets of files that import one another in a circle (Tarjan's algorithm). */
export function findCircles(graph: ImportGraph): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): number => {
    const own = order.size;
    let low = own;
    order.set(file, own);
    open.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === own) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1 || graph.get(file)?.includes(file)) circles.push(circle.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return circles;
}

/** Finds the longest chain of imports. In a circle, each file counts once. */
export function findLongestChain(graph: ImportGraph): string[] {
  const longest = new Map<string, string[]>();
  const from = (file: string, above: ReadonlySet<string>): string[] => {
    const known = longest.get(file);
    if (known) return known;
    if (above.has(file)) return [];
    const chains = (graph.get(file) ?? []).map(next => from(next, new Set([...above, file])));
    const chain = [file, ...longestOf(chains)];
    longest.set(file, chain);
    return chain;
  };
  return longestOf([...graph.keys()].map(file => from(file, new Set())));
}

function longestOf(chains: readonly string[][]): string[] {
  return chains.reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);
}
