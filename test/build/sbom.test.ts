import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the list of parts names the packages whose code is in dist/, with their licences, and no other', () => {
  execFileSync(process.execPath, ['build/sbom.ts']);
  const { components, dependencies } = JSON.parse(readFileSync('dist/sbom.cdx.json', 'utf8'));
  const listed: string[] = components.map(({ name }: { name: string }) => name);
  // The comments with which rolldown begins the code of each module. The dashboard has none.
  const bundled = globSync('dist/*.js').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/^\s*\/\/ .*\bnode_modules\/((?:@[^/]+\/)?[^/\n]+)\//gm)].map(
      ([, name]) => name,
    ),
  );
  expect(new Set(bundled).size).toBeGreaterThan(50);
  expect(listed).toEqual(expect.arrayContaining([...bundled, 'preact', '@preact/signals']));
  for (const name of ['vitest', 'vite', 'node', '@types/node']) expect(listed).not.toContain(name);
  expect(dependencies.length).toBe(listed.length + 1);
  const licences = readFileSync('dist/licences.txt', 'utf8').match(/^# \S+ \S+: \S+/gm);
  expect(licences).toHaveLength(listed.length);
});

test('the package needs no other package', () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  expect([dependencies, optionalDependencies, peerDependencies]).toEqual([undefined, undefined, undefined]);
});
