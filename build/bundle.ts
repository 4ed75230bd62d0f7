import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, relative, resolve } from 'node:path';
import { applyPatch, parsePatch } from 'diff';
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

// A megabyte of the tarball each. Of the others that better-sqlite3 has, hookmill does not run on Windows, and servers
// are no Macs with an Intel processor.
const platforms = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'linuxmusl-arm64', 'linuxmusl-x64'];

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

const patches = new Map(
  globSync('build/patches/*.patch')
    .flatMap(file => parsePatch(readFileSync(file, 'utf8')))
    .map(patch => [patch.newFileName?.replace(/^b/, resolve('.')), patch]),
);

const unused = new Set(patches.keys());

/** Changes packages as build/patches/ says. Fails if a file is not the one that its patch was made for. */
const patched: Plugin = {
  name: 'patched',
  transform: {
    filter: { id: /\/node_modules\// },
    handler(code, id) {
      const patch = patches.get(id);
      const changed = patch && applyPatch(code, patch);
      if (changed === false) throw new Error(`${relative('', id)} is not what its patch was made for`);
      if (patch) unused.delete(id);
      return changed;
    },
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
const plugins = [lazyBuiltins, patched];

/**
 * Bundles the command line and the daemon, with the packages that they use: a bundle of only the used parts halves the
 * start time of a command, because finding and reading a package's many files costs more than running them.
 */
export async function bundleProgram(): Promise<readonly OutputChunk[]> {
  const chunks = await Promise.all([
    bundleCommands(),
    build({ ...options, input: workers, output, plugins }),
  ]);
  if (unused.size > 0) throw new Error(`The bundle lacks files that have patches: ${[...unused].join(', ')}`);
  return chunks.flatMap(({ output }) => output).filter(file => file.type === 'chunk');
}

/**
 * Finds the files that the program needs beside its chunks, by their paths in dist/: SQLite for the platforms of the
 * package, and for the one that builds it; and the script that supervises git.
 */
export function findOtherFiles(): ReadonlyMap<string, Buffer> {
  const wanted = new Set([...platforms, `${process.platform}-${process.arch}`].map(name => `${name}.node`));
  const files = globSync('node_modules/better-sqlite3/prebuilds/*').filter(file =>
    wanted.has(basename(file)),
  );
  return new Map([
    ...files.map(file => [`prebuilds/${basename(file)}`, readFileSync(file)] as const),
    [basename(gitSession), readFileSync(gitSession)],
  ]);
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
