// `npm run build`: the command line and the daemon, from their sources to dist/. Types are checked by `npm run check`.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { relative, resolve } from 'node:path';
import { build, type Plugin } from 'rolldown';
import { yamlRewrites } from './faster-yaml.ts';

// All packages are bundled but these: a bundle of only the used parts halves the start time of a command, because finding
// and reading a package's many files costs more than running them. better-sqlite3 has a native part, and pino finds files
// of its own by their paths. The others are loaded seldom, and only by what needs them.
const notBundled =
  /^(@inquirer\/prompts|better-sqlite3|json-schema-to-typescript-lite|openid-client|pg|pino)($|\/)/;

const replaced = {
  // The same code as for Node, but it does not ask the environment for LOG_TOKENS at each token, which takes a fifth of
  // `validate`, and its unused parts can be left out.
  yaml: resolve('node_modules/yaml/browser/dist/index.js'),
};

const program = 'cli/main.ts';
// Modules that `validate` loads later than the program: they check definitions.
const definitions = [
  'cli/definitions/load-definitions.ts',
  'cli/definitions/tracked-homes.ts',
  'cli/formats/text.ts',
];
// Each of these runs in its own thread or process. The file that starts it expects it in the same directory. They share
// no files with the commands, because each would load all that a command loads.
const workers = {
  'delivery-log-worker': 'store/embedded/delivery-log/write/delivery-log-worker.ts',
  'postgres-log-worker': 'store/postgres/delivery-log/postgres-log-worker.ts',
  'delivery-log-query-worker': 'store/embedded/delivery-log/read/delivery-log-query-worker.ts',
  'git-launcher': 'sources/repository/git/git-launcher.ts',
  'operations-worker': 'daemon/operations-thread/operations-worker.ts',
  'reconcile-worker': 'daemon/reconciling/reconcile-worker.ts',
};

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

/** Takes a third off the time of `validate`, most of which is in yaml. */
const fasterYaml: Plugin = {
  name: 'faster-yaml',
  transform: {
    filter: { id: /\/yaml\/browser\/dist\/(parse|nodes)\// },
    handler: (code, id) => yamlRewrites[id.split('/').slice(-2).join('/')]?.(code),
  },
};

let findImports: (module: string) => readonly string[] = () => [];
let startModules: ReadonlySet<string> | undefined;
let definitionsModules: ReadonlySet<string> | undefined;

const options = {
  platform: 'node',
  external: notBundled,
  resolve: { alias: replaced },
  treeshake: { propertyReadSideEffects: false },
  // The package depd, which Koa loads, makes a function with eval.
  checks: { eval: false },
  write: false,
} as const;
const { output } = await build({
  ...options,
  input: { hookmill: program },
  // One file for all that each command loads starts faster than the twenty that rolldown would make of it, and so does
  // one file for all that commands load to check definitions.
  output: {
    format: 'esm',
    codeSplitting: {
      groups: [
        { name: 'start', test: isStartModule },
        { name: 'definitions', test: isDefinitionsModule },
      ],
    },
  },
  plugins: [
    lazyBuiltins,
    fasterYaml,
    {
      name: 'find-imports',
      buildEnd() {
        findImports = module => this.getModuleInfo(module)?.importedIds ?? [];
      },
    },
  ],
});
const threads = await build({
  ...options,
  input: workers,
  output: { format: 'esm' },
  plugins: [lazyBuiltins, fasterYaml],
});
output.push(...threads.output);
mkdirSync('dist', { recursive: true });
for (const file of output) if (file.type === 'chunk') replace(`dist/${file.fileName}`, file.code);

// Removes the files of an earlier build last, because a running command may still load them.
const built = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync('dist')) if (file.endsWith('.js') && !built.has(file)) rmSync(`dist/${file}`);

/** Whether each command loads the module. */
function isStartModule(module: string): boolean {
  startModules ??= findReached([program]);
  return startModules.has(module);
}

/** Whether commands load the module to check definitions, and not each command does. */
function isDefinitionsModule(module: string): boolean {
  definitionsModules ??= findReached(definitions);
  return definitionsModules.has(module) && !isStartModule(module);
}

function findReached(entries: readonly string[]): Set<string> {
  const reached = new Set(entries.map(entry => resolve(entry)));
  for (const module of reached) for (const imported of findImports(module)) reached.add(imported);
  return reached;
}

/** Replaces a file in one step, and only if it changed, because commands may be running from it. */
function replace(file: string, code: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === code) return;
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, code);
  renameSync(temporary, file);
}
