// `npm run build`: writes what is stale of dist/, which the package runs: the command line and the daemon, and the
// dashboard. Types are checked by `npm run check`.
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { OutputChunk } from 'rolldown';
import { type Part, replaceFile, updateParts } from './update-parts.ts';

const common = ['build/**/*.*', 'package.json', 'package-lock.json'];
const program: Part = {
  sources: ['{cli,daemon,json,operations,schema,senders,signatures,sources,store}/**/*.{ts,sh}', ...common],
  output: ['dist/*.{js,sh}'],
  build: buildProgram,
};
const dashboard: Part = {
  sources: ['{dashboard,json,schema,signatures}/**/*.*', ...common],
  output: ['dist/dashboard/**/*.*'],
  build: buildDashboard,
};

process.chdir(join(import.meta.dirname, '..'));
await updateParts({ program, dashboard }, 'dist/build.json');

async function buildProgram(): Promise<readonly string[]> {
  // Loading what bundles takes longer than to find that nothing is stale.
  const { bundleProgram, findOtherFiles } = await import('./bundle.ts');
  const chunks = await bundleProgram();
  const files = new Map<string, string | Buffer>(findOtherFiles());
  for (const { fileName, code } of chunks) files.set(fileName, code);
  mkdirSync('dist', { recursive: true });
  for (const [file, content] of files) replaceFile(join('dist', file), content);
  // Removes the files of an earlier build last, because a running command may still load them.
  for (const file of globSync(program.output)) if (!files.has(relative('dist', file))) rmSync(file);
  return findModules(chunks);
}

async function buildDashboard(): Promise<readonly string[]> {
  // In the environment of tests, Vite would build it for development.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const results = [await build({ configFile: 'dashboard/vite.config.ts', logLevel: 'warn' })].flat();
  const files = results.flatMap(result => ('output' in result ? result.output : []));
  return findModules(files.filter(file => file.type === 'chunk'));
}

/** Lists the files that the chunks consist of, relative to the repository. Leaves out the modules that rolldown and plugins make. */
function findModules(chunks: readonly OutputChunk[]): string[] {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  return modules.filter(module => module.startsWith('/')).map(module => relative('', module));
}
