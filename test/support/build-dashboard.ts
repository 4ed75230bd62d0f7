import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '../..');
const built = join(root, 'dist/dashboard/index.html');

/** Builds the dashboard only if a source is newer: a daemon that starts during a build would find half of it. */
export async function buildDashboard(): Promise<void> {
  const sources = globSync('dashboard/**/*.{ts,tsx,css,html,svg}', { cwd: root });
  const newestMs = Math.max(...sources.map(file => changedMs(join(root, file))));
  if (changedMs(built) < newestMs) {
    // As the package has it: in the environment of tests, Vite would build it for development.
    const env = { NODE_ENV: 'production' };
    await execa('vite', ['build', 'dashboard', '--logLevel', 'warn'], { cwd: root, preferLocal: true, env });
  }
}

function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
