import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What each folder may import of the others (ARCHITECTURE.md). */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  schema: [],
  store: ['schema'],
  reconcile: ['schema', 'store'],
  daemon: ['schema', 'store', 'reconcile'],
  cli: ['schema', 'store', 'reconcile'],
  dashboard: ['schema'],
};
/** The one way from the command line into the daemon. */
const startsDaemon = 'cli/commands/daemon/serve.ts';

// What a pure function can use: hashing, comparing and decoding, no files, network, processes, clocks or threads.
const pureBuiltins = ['node:crypto', 'node:buffer', 'node:util', 'node:assert', 'node:string_decoder'];
const impure =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bprocess\.|\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\brandom(Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b|\bconsole\./;

const sources = Object.keys(mayImport).flatMap(sourcesBelow);

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => join(folder, file));
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** What a file imports, statically or when it runs, types as well: specifiers as they are written. */
function importsOf(file: string): string[] {
  const found = read(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"]+)\1/g);
  return [...found].map(([, , specifier = '']) => specifier);
}

/** The folder of ours that a specifier leads to; undefined for a package. */
function folderOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return relative(root, join(root, dirname(file), specifier)).split('/')[0];
}

describe('imports', () => {
  test('there are sources to look at, and imports in them', () => {
    expect(sources).toContain(startsDaemon);
    expect(importsOf(startsDaemon).map(specifier => folderOf(startsDaemon, specifier))).toContain('daemon');
  });

  test.for(sources)('%s keeps to the folders that its own may import', file => {
    const own = file.split('/')[0] ?? '';
    const allowed = [own, ...(mayImport[own] ?? []), ...(file === startsDaemon ? ['daemon'] : [])];
    const folders = importsOf(file)
      .map(specifier => folderOf(file, specifier))
      .filter(folder => folder !== undefined);
    expect(folders.filter(folder => !allowed.includes(folder))).toEqual([]);
  });

  test('name built-in modules with node: and files with their ending', () => {
    const unclear = sources.flatMap(file =>
      importsOf(file)
        .filter(specifier => builtinModules.includes(specifier) || /^\.{1,2}\/(?!.*\.\w+$)/.test(specifier))
        .map(specifier => `${file}: ${specifier}`),
    );
    expect(unclear).toEqual([]);
  });
});

describe('schema is pure', () => {
  test.for(sources.filter(file => file.startsWith('schema/')))('%s', file => {
    const builtins = importsOf(file).filter(specifier => specifier.startsWith('node:'));
    expect(builtins.filter(specifier => !pureBuiltins.includes(specifier))).toEqual([]);
    expect(
      withoutComments(read(file))
        .split('\n')
        .filter(line => impure.test(line)),
    ).toEqual([]);
  });
});

test('SQL is written in the store alone', () => {
  const sql = /\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)\b/;
  const elsewhere = sources.filter(file => !file.startsWith('store/') && sql.test(read(file)));
  expect(elsewhere).toEqual([]);
});

test('no source is a barrel, or lies in a folder for everything', () => {
  const barrels = sources.filter(
    file => /^\s*export \* from/m.test(read(file)) || /(^|\/)index\.tsx?$/.test(file),
  );
  const folders = new Set(sources.map(file => dirname(file)));
  expect(barrels).toEqual([]);
  expect([...folders].filter(folder => /(^|\/)(utils?|common|helpers|lib)(\/|$)/.test(folder))).toEqual([]);
});

test('files are named in kebab-case', () => {
  expect(sources.filter(file => !/^[a-z0-9/-]+(\.d|\.config)?\.tsx?$/.test(file))).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}
