// `npm pack`: writes what the package consists of beside what `npm run build` wrote: dist/sbom.cdx.json (CycloneDX), and
// dist/licences.txt with the licence of each part. The parts are the packages whose code the build put into dist/: the
// package has no dependencies.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

const { name } = readJson('package.json');
const built: Record<string, { readonly packages: readonly string[] }> = readJson('dist/build.json');
const directories = new Map(
  Object.values(built)
    .flatMap(({ packages }) => packages)
    .map(directory => {
      const { name, version } = readJson(join(directory, 'package.json'));
      return [`${name}@${version}`, directory];
    }),
);

const npmSbom = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'];
const bom: Bom = JSON.parse(execFileSync('npm', npmSbom, { encoding: 'utf8' }));
// npm takes the name of the directory.
const component = { ...bom.metadata.component, name };
const isPart = (ref: string) => ref === component['bom-ref'] || directories.has(ref);
// npm says that they are for development only, and where it installed them.
const components = bom.components
  .filter(part => isPart(part['bom-ref']))
  .map(part => ({ ...part, properties: [] }));
if (components.length !== directories.size) throw new Error('npm sbom does not list each bundled package');
const shipped = {
  ...bom,
  metadata: { ...bom.metadata, component },
  components,
  dependencies: bom.dependencies
    .filter(({ ref }) => isPart(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isPart) })),
};
writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(shipped, undefined, 2)}\n`);
writeFileSync('dist/licences.txt', components.map(describeLicence).join('\n'));

function describeLicence({ 'bom-ref': ref, name, version, licenses = [] }: Component): string {
  const ids = licenses.map(({ expression, license }) => expression ?? license?.id);
  const directory = directories.get(ref) ?? '';
  const texts = readdirSync(directory).filter(file => /^(licen[cs]e|copying|notice)/i.test(file));
  return [
    `# ${name} ${version}: ${ids.join(', ')}`,
    ...texts.map(file => readFileSync(join(directory, file), 'utf8')),
    '',
  ].join('\n\n');
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
