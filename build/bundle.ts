import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, relative, resolve } from 'node:path';
import { build, type OutputChunk, type Plugin } from 'rolldown';

const program = 'cli/main.ts';
// Modules that `validate` loads later than the program: they check definitions.
const definitions = ['cli/definitions/load-definitions.ts', 'cli/definitions/tracked-homes.ts'];
// Each of these runs in its own thread. The file that starts it expects it in the same directory. They share
// no files with the commands, because each would load all that a command loads.
const workers = {
  'delivery-log-worker': 'store/embedded/delivery-log/write/delivery-log-worker.ts',
  'postgres-log-worker': 'store/postgres/delivery-log/postgres-log-worker.ts',
  'delivery-log-query-worker': 'store/embedded/delivery-log/read/delivery-log-query-worker.ts',
  'operations-worker': 'daemon/operations-thread/operations-worker.ts',
  'reconcile-worker': 'daemon/reconciling/reconcile-worker.ts',
};

const gitSession = 'sources/repository/git/git-session.sh';

/**
 * Gets built-in modules as CommonJS does. An import of one reads all its exports, and so loads half of Node: fs, util,
 * process and child_process take 10 ms of each command.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  // Each importer has its own, so that a command gets only those of the files that it loads.
  resolveId: (id, importer = '', { kind }) => {
    if (!isBuiltin(id)) return undefined;
    // OpenTelemetry imports http when it sends, and needs the whole module.
    if (kind === 'dynamic-import') return { id, external: true };
    // The comments of a bundle name its modules, and are the same wherever it is built.
    return `\0${kind}:${id.replace(/^node:/, '')}?${relative('', importer)}`;
  },
  load(id) {
    const [, kind, name, importer = ''] = /^\0(import-statement|require-call):([^?]*)\?(.*)$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    const builtin = `/* @__PURE__ */ process.getBuiltinModule('node:${name}')`;
    if (kind === 'require-call') return `module.exports = ${builtin};`;
    // commander starts programs for commands that it does not know, and hookmill has none of these.
    if (/\bcommander\b/.test(importer) && name === 'child_process') return 'export default {};';
    const exports = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter(
      key => key !== 'default',
    );
    return [
      `const builtin = ${builtin};`,
      'export default builtin;',
      ...exports.map(key => `export const ${key} = builtin.${key};`),
    ].join('\n');
  },
};

const options = {
  platform: 'node',
  // pg loads it if it is asked for it.
  external: 'pg-native',
  transform: { define: { __dirname: 'import.meta.dirname' } },
  treeshake: { propertyReadSideEffects: false },
  // The package depd, which Koa loads, makes a function with eval.
  checks: { eval: false },
  write: false,
} as const;
const output = { format: 'esm', comments: { jsdoc: false } } as const;
const plugins = [lazyBuiltins];

/**
 * Bundles the command line and the daemon, with the packages that they use: a bundle of only the used parts halves the
 * start time of a command, because finding and reading a package's many files costs more than running them.
 */
export async function bundleProgram(): Promise<readonly OutputChunk[]> {
  const chunks = await Promise.all([
    bundleCommands(),
    build({ ...options, input: workers, output, plugins }),
  ]);
  return chunks.flatMap(({ output }) => output).filter(file => file.type === 'chunk');
}

/** The files that the program needs beside its chunks, by their paths in dist/: the script that supervises git. */
export function findOtherFiles(): ReadonlyMap<string, Buffer> {
  return new Map([[basename(gitSession), readFileSync(gitSession)]]);
}

/**
 * One file for all that each command loads starts faster than the twenty that rolldown would make of it, and so does one
 * file for all that commands load to check definitions.
 */
function bundleCommands() {
  let findImports: (module: string) => readonly string[] = () => [];
  const findModules = once(() => {
    const start = findReached([program], findImports);
    const checks = findReached(definitions, findImports);
    return { start, definitions: new Set([...checks].filter(module => !start.has(module))) };
  });
  const groups = (['start', 'definitions'] as const).map(name => ({
    name,
    test: (module: string) => findModules()[name].has(module),
  }));
  const importFinder: Plugin = {
    name: 'find-imports',
    buildEnd() {
      findImports = module => this.getModuleInfo(module)?.importedIds ?? [];
    },
  };
  return build({
    ...options,
    input: { hookmill: program },
    output: { ...output, codeSplitting: { groups } },
    plugins: [...plugins, importFinder],
  });
}

function findReached(
  entries: readonly string[],
  findImports: (module: string) => readonly string[],
): Set<string> {
  const reached = new Set(entries.map(entry => resolve(entry)));
  for (const module of reached) for (const imported of findImports(module)) reached.add(imported);
  return reached;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
