import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');
const built = join(root, 'dist/dashboard/index.html');

/** Builds the dashboard only if a source is newer: a daemon that starts during a build would find half of it. */
export async function buildDashboard(): Promise<void> {
  const sources = globSync('dashboard/**/*.{ts,tsx,css,html,svg}', { cwd: root });
  const newestMs = Math.max(...sources.map(file => changedMs(join(root, file))));
  if (changedMs(built) < newestMs) {
    await build({ configFile: join(root, 'dashboard/vite.config.ts'), logLevel: 'warn' });
  }
}

function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
