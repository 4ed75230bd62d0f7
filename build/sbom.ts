// `npm pack`: writes what the package consists of beside what `npm run build` wrote: dist/sbom.cdx.json (CycloneDX), and
// dist/licences.txt with the licence of each part.
import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly { readonly expression?: string; readonly license?: { readonly id: string } }[];
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const { name, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { packages: Record<string, { version?: string }> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const npmSbom = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'];
const bom: Bom = JSON.parse(execFileSync('npm', npmSbom, { encoding: 'utf8' }));
const parts = findParts(bom);
// npm takes the name of the directory.
const component = { ...bom.metadata.component, name };
const shipped = {
  ...bom,
  metadata: { ...bom.metadata, component },
  components: bom.components.filter(part => parts.has(part['bom-ref'])),
  dependencies: bom.dependencies.flatMap(({ ref, dependsOn }) =>
    parts.has(ref) ? [{ ref, dependsOn: dependsOn.filter(other => parts.has(other)) }] : [],
  ),
};
writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(shipped, undefined, 2)}\n`);
writeFileSync('dist/licences.txt', shipped.components.map(describeLicence).join('\n'));

/** The package, and what it needs: also development dependencies whose code the build copies into dist/. */
function findParts({ metadata, components, dependencies: edges }: Bom): Set<string> {
  const direct = new Set([...Object.keys(dependencies), ...findImportedPackages()]);
  const versions = edges.find(({ ref }) => ref === metadata.component['bom-ref'])?.dependsOn ?? [];
  const isDirect = ({ name, 'bom-ref': ref }: Component) => direct.has(name) && versions.includes(ref);
  const found = new Set(components.filter(isDirect).map(part => part['bom-ref']));
  for (const part of found) {
    const edge = edges.find(({ ref }) => ref === part);
    for (const other of edge?.dependsOn ?? []) found.add(other);
  }
  return found.add(metadata.component['bom-ref']);
}

function findImportedPackages(): string[] {
  const folders = '{cli,daemon,dashboard,operations,schema,signatures,sources,store}';
  return globSync(`${folders}/**/*.{ts,tsx}`, { exclude: ['dashboard/vite.config.ts'] }).flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:from|import\() ?'((?:@[^/']+\/)?[^./'][^/']*)/g)].map(
      ([, imported = '']) => imported,
    ),
  );
}

function describeLicence({ name, version, licenses = [] }: Component): string {
  const ids = licenses.map(({ expression, license }) => expression ?? license?.id);
  const places = Object.entries(lock.packages).filter(
    ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
  );
  const directory = places[0]?.[0] ?? '';
  const texts = readdirSync(directory).filter(file => /^(licen[cs]e|copying|notice)/i.test(file));
  return [
    `# ${name} ${version}: ${ids.join(', ')}`,
    ...texts.map(file => readFileSync(join(directory, file), 'utf8')),
    '',
  ].join('\n\n');
}
