import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildImportGraph, findCircles, findLongestChain, findReached } from '../support/import-graph.ts';
import { readSources, type SourceFile, type SourceFunction } from '../support/source-files.ts';

/** The folders that each folder may import from (ARCHITECTURE.md). */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  json: [],
  signatures: ['json'],
  schema: ['json', 'signatures'],
  store: ['json', 'schema'],
  sources: ['json', 'schema'],
  senders: ['json', 'schema'],
  operations: ['json', 'schema', 'signatures', 'store', 'sources', 'senders'],
  daemon: ['json', 'schema', 'signatures', 'store', 'sources', 'senders', 'operations'],
  cli: ['json', 'schema', 'signatures', 'store', 'sources', 'senders', 'operations', 'daemon'],
  dashboard: ['json', 'schema'],
};
/** The only ways from the command line into the daemon: to start it, and to look at its settings. */
const startsDaemon = /^cli\/commands\/([a-z-]+\/)?serve\.ts$/;
const looksAtSettings = 'cli/doctor/examine-settings.ts';
/** Packages and files that take longer to load than a command otherwise takes to start. */
const slowToStart =
  /^(zod|yaml|execa|simple-git|koa|pg|node:sqlite)($|\/)|\/signatures\/|\/store\/(embedded|postgres)\/|^[./]+\/daemon\//;
const chainLengthMax = 14;
const functionLinesMax = 60;

// A pure function may hash, compare and decode. It uses no files, network, processes, clocks or threads.
const pureFolders = ['json', 'schema', 'signatures'];
const pureBuiltins = ['node:crypto', 'node:buffer', 'node:util', 'node:assert', 'node:string_decoder'];
const impure =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bprocess\.|\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\brandom(Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b|\bconsole\./;

const sql = /\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)\b/;
const storePackages = ['node:sqlite', 'lowdb', 'pg'];
const homeFile =
  /(?<![\w.-])(applied\.json|reconcile\.json|secrets\.json|tokens\.json|daemon\.json|deliveries\.db|output\.log)(?![\w-])/;

const sources = Object.keys(mayImport).flatMap(readSources);
const graph = buildImportGraph(sources);
const outsideStore = sources.filter(({ path }) => folderOf(path) !== 'store');

function folderOf(path: string): string {
  return path.split('/')[0] ?? '';
}

/** Tells whether two folders are the same one, or one contains the other: a folder and its parts may import each other. */
function isWithin(folder: string, other: string): boolean {
  return `${folder}/`.startsWith(`${other}/`) || other.startsWith(`${folder}/`);
}

/** Lists each thing found in a source as `path: thing`. */
function found(among: readonly SourceFile[], find: (source: SourceFile) => readonly string[]): string[] {
  return among.flatMap(source => find(source).map(thing => `${source.path}: ${thing}`));
}

function pathsOf(among: readonly SourceFile[]): string[] {
  return among.map(({ path }) => path);
}

describe('imports', () => {
  test('are found, static ones, dynamic ones and those of types', () => {
    expect(graph.get('cli/main.ts')?.length).toBeGreaterThan(0);
    const serve = [...graph.keys()].find(path => startsDaemon.test(path)) ?? '';
    expect(graph.get(serve)).toContain('daemon/daemon.ts');
  });

  test.for(Object.entries(mayImport))('of %s/ keep to the folders below it', ([folder, allowed]) => {
    const breaches = found(
      sources.filter(({ path }) => folderOf(path) === folder),
      ({ path }) =>
        (graph.get(path) ?? []).filter(file => {
          const other = folderOf(file);
          if (other === 'daemon' && folder === 'cli')
            return !startsDaemon.test(path) && path !== looksAtSettings;
          return other !== folder && !allowed.includes(other);
        }),
    );
    expect(breaches).toEqual([]);
  });

  test('of store/embedded/ and store/postgres/ stand only in store/', () => {
    const isAdapter = (file: string) => /^store\/(embedded|postgres)\//.test(file);
    expect(found(outsideStore, ({ path }) => (graph.get(path) ?? []).filter(isAdapter))).toEqual([]);
  });

  test('of an adapter never lead to the other adapter, and imports of store/ports/ and store/home/ to neither', () => {
    const apart: Readonly<Record<string, RegExp>> = {
      'store/embedded': /^store\/postgres\//,
      'store/postgres': /^store\/embedded\//,
      'store/ports': /^store\/(?!ports\/)/,
      'store/home': /^store\/(?!home\/|ports\/)/,
    };
    for (const [folder, other] of Object.entries(apart)) {
      const inFolder = sources.filter(({ path }) => path.startsWith(`${folder}/`));
      expect(inFolder.length).toBeGreaterThan(10);
      const breaches = found(inFolder, ({ path }) =>
        (graph.get(path) ?? []).filter(file => other.test(file)),
      );
      expect(breaches).toEqual([]);
    }
  });

  test('of operations/ lead to no problem of HTTP: an operation throws a refusal', () => {
    const operations = sources.filter(({ path }) => folderOf(path) === 'operations');
    const problems = 'schema/api/problems.ts';
    expect(pathsOf(operations).filter(path => graph.get(path)?.includes(problems))).toEqual([]);
    expect(graph.has(problems)).toBe(true);
  });

  test('make no circle', () => {
    expect(findCircles(graph)).toEqual([]);
  });

  test('make no circle of folders', () => {
    const folders = new Map<string, Set<string>>();
    for (const [file, imported] of graph) {
      const folder = dirname(file);
      const others = imported.map(path => dirname(path)).filter(other => !isWithin(folder, other));
      folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
    }
    expect(folders.size).toBeGreaterThan(50);
    expect(findCircles(new Map([...folders].map(([folder, others]) => [folder, [...others]])))).toEqual([]);
  });

  test(`lead from file to file over at most ${chainLengthMax} files`, () => {
    // A reader goes on from a table to one command, operation or page, which begins a chain of its own.
    const tables = [
      'cli/main.ts',
      'operations/handlers/call-handler.ts',
      'schema/api/routes.ts',
      'dashboard/factory-pages.tsx',
    ];
    for (const table of tables) expect(graph.get(table)?.length).toBeGreaterThan(1);
    const chain = findLongestChain(new Map([...graph, ...tables.map(table => [table, []] as const)]));
    expect(chain.length, chain.join('\n')).toBeLessThanOrEqual(chainLengthMax);
  });

  test('name built-in modules with node: and files with their ending', () => {
    const isUnclear = (specifier: string) =>
      (builtinModules.includes(specifier) && !specifier.startsWith('node:')) ||
      /^\.{1,2}\/(?!.*\.\w+$)/.test(specifier);
    expect(found(sources, ({ imports }) => imports.filter(isUnclear))).toEqual([]);
  });
});

test('a command starts without what only some commands need', () => {
  const reached = findReached(buildImportGraph(sources, 'loads'), 'cli/main.ts');
  expect(reached.size).toBeGreaterThan(1);
  const started = sources.filter(({ path }) => reached.has(path));
  expect(found(started, ({ loads }) => loads.filter(specifier => slowToStart.test(specifier)))).toEqual([]);
});

describe.each(pureFolders)('%s/ is pure', folder => {
  const pure = sources.filter(({ path }) => folderOf(path) === folder);

  test('by what it imports', () => {
    const isImpure = (specifier: string) =>
      specifier.startsWith('node:') && !pureBuiltins.includes(specifier);
    expect(found(pure, ({ imports }) => imports.filter(isImpure))).toEqual([]);
  });

  test('by what it calls', () => {
    expect(found(pure, ({ code }) => code.split('\n').filter(line => impure.test(line)))).toEqual([]);
  });
});

describe('what is kept is known to store/ only:', () => {
  test('SQL', () => {
    expect(found(outsideStore, ({ literals }) => literals.filter(text => sql.test(text)))).toEqual([]);
  });

  test('the packages that write it', () => {
    const isStore = (specifier: string) => storePackages.includes(specifier.split('/')[0] ?? '');
    expect(found(outsideStore, ({ imports }) => imports.filter(isStore))).toEqual([]);
  });

  test('the files of the home', () => {
    expect(found(outsideStore, ({ literals }) => literals.filter(text => homeFile.test(text)))).toEqual([]);
  });
});

test('the test files of test/unit/ are all that start no process, server or thread, and open no store', () => {
  const starts =
    /^(node:(child_process|worker_threads|https?|net)|execa|node:sqlite|pg|koa|playwright-core|simple-git)$/;
  // It looks at the page that the setup of the other projects builds.
  const needsBuild = 'test/browser/build.test.ts';
  const all = [...sources, ...readSources('test'), ...readSources('docs')];
  const loads = buildImportGraph(all, 'loads');
  const byPath = new Map(all.map(source => [source.path, source]));
  const isPure = (file: string) =>
    [...findReached(loads, file)].every(path => !byPath.get(path)?.imports.some(name => starts.test(name)));
  const tests = [...byPath.keys()].filter(path => path.endsWith('.test.ts') && path !== needsBuild);
  const unit = tests.filter(path => path.startsWith('test/unit/'));
  expect(unit.sort()).toEqual(tests.filter(isPure).sort());
});

test('the command line prints only through cli/output.ts, which escapes what a terminal would obey', () => {
  const past = /\bconsole\.|\bstd(out|err)\s*\.\s*(write|end)\b|\bwriteSync\(\s*[12]\b|\bpipe\(\s*process\./;
  const others = sources.filter(({ path }) => folderOf(path) === 'cli' && path !== 'cli/output.ts');
  expect(found(others, ({ code }) => code.split('\n').filter(line => past.test(line)))).toEqual([]);
});

test('JSON is parsed only by json/parse-json-text.ts, which does not take one key for another', () => {
  const parser = 'json/parse-json-text.ts';
  // Of a Response or a Request too: they call JSON.parse.
  const past = /\bJSON\s*\??\.\s*parse\b|\bJSON\[|=\s*JSON\s*[;,]|\.json\(\)/;
  const lines = ({ code }: SourceFile) => code.split('\n').filter(line => past.test(line));
  expect(sources.filter(({ path }) => path === parser).flatMap(lines).length).toBeGreaterThan(0);
  expect(
    found(
      sources.filter(({ path }) => path !== parser),
      lines,
    ),
  ).toEqual([]);
});

test('no name is exported by two files', () => {
  const homes = new Map<string, string[]>();
  for (const { path, exports } of sources) {
    for (const name of exports) homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  homes.delete('default');
  const shared = [...homes].filter(([, paths]) => new Set(paths).size > 1);
  expect(shared.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([]);
});

test(`no function has more than ${functionLinesMax} lines`, () => {
  const long = found(sources, ({ functions }) =>
    functions
      .filter(({ lines }) => lines > functionLinesMax)
      .map(({ line, lines }) => `${lines} lines from line ${line}`),
  );
  expect(long).toEqual([]);
});

test('elements of the dashboard are made in functions: one that is kept keeps each page in which it was shown', () => {
  const isWithin =
    (at: number) =>
    ({ line, lines }: SourceFunction) =>
      line <= at && at < line + lines;
  const kept = found(sources, ({ elements, functions }) =>
    elements.filter(at => !functions.some(isWithin(at))).map(at => `line ${at}`),
  );
  expect(sources.some(({ elements }) => elements.length > 0)).toBe(true);
  expect(kept).toEqual([]);
});

test('no file is a barrel', () => {
  const barrels = sources.filter(
    ({ path, code }) => /^\s*export \* from/m.test(code) || /(^|\/)index\.tsx?$/.test(path),
  );
  expect(pathsOf(barrels)).toEqual([]);
});

test('no folder is for everything', () => {
  const folders = new Set(sources.map(({ path }) => dirname(path)));
  const forAll = [...folders].filter(folder => /(^|\/)(utils?|common|helpers?|lib)(\/|$)/.test(folder));
  expect(forAll).toEqual([]);
});

test('files are named in kebab-case', () => {
  expect(pathsOf(sources).filter(path => !/^[a-z0-9/-]+(\.d|\.config)?\.tsx?$/.test(path))).toEqual([]);
});

test('package-lock.json has the integrity of each package, and no address to get it from', () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
  const entries = Object.entries<{ integrity?: string; resolved?: string }>(packages);
  const unsafe = entries.filter(
    ([path, { integrity, resolved }]) =>
      path !== '' && (!/^sha512-[\w+/]{86}==$/.test(integrity ?? '') || resolved !== undefined),
  );
  expect(entries.length).toBeGreaterThan(100);
  expect(unsafe.map(([path]) => path)).toEqual([]);
});
