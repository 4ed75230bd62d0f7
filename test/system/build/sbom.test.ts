import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { BuiltPart } from '../../../build/update-parts.ts';

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

test('the list of parts names the packages whose code is in dist/, with their licences, and no other', () => {
  execFileSync(process.execPath, ['build/sbom.ts']);
  const { components, dependencies } = readJson('dist/sbom.cdx.json');
  const listed: string[] = components.map(({ name }: { name: string }) => name);
  // The comments with which rolldown begins the code of each module, and the list that Vite makes for the dashboard.
  const namesIn = (pattern: string, name: RegExp) =>
    globSync(pattern).flatMap(file => [...readFileSync(file, 'utf8').matchAll(name)].map(([, name]) => name));
  const bundled = namesIn('dist/*.js', /^\s*\/\/ .*\bnode_modules\/((?:@[^/]+\/)?[^/\n]+)\//gm);
  expect(new Set(bundled).size).toBeGreaterThan(50);
  const dashboard = namesIn('dist/dashboard/licenses.md', /^## (\S+) - /gm);
  expect(dashboard).toContain('preact');
  // One is inlined without a comment; the other only exports what its parts export.
  const silent = ['picocolors', '@inquirer/prompts'];
  expect(new Set(listed)).toEqual(new Set([...bundled, ...dashboard, ...silent]));
  expect(dependencies.length).toBe(listed.length + 1);
  const licences = readFileSync('dist/licences.txt', 'utf8').match(/^# \S+ \S+: \S+/gm);
  expect(licences).toHaveLength(listed.length);
});

test('docs/decisions/dependencies.md lists each package, those in dist/ in a table of their own', () => {
  const tables = readFileSync('docs/decisions/dependencies.md', 'utf8').split(/^## .*/m);
  const named = tables.slice(1).map(table => {
    const rows = [...table.matchAll(/^\| (?!package|---)(.*?) \|/gm)];
    return rows.flatMap(([, names = '']) => names.split(', ')).sort();
  });
  const built: Record<string, BuiltPart> = readJson('dist/build.json');
  const copied = new Set(Object.values(built).flatMap(({ packages }) => packages));
  const isCopied = (name: string) => copied.has(`node_modules/${name}`);
  const names = Object.keys(readJson('package.json').devDependencies).sort();
  expect(named).toEqual([names.filter(isCopied), names.filter(name => !isCopied(name))]);
});

test('the package needs no other package', () => {
  const { dependencies, optionalDependencies, peerDependencies } = readJson('package.json');
  expect([dependencies, optionalDependencies, peerDependencies]).toEqual([undefined, undefined, undefined]);
});
