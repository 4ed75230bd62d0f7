// `npm run build`: the command line and the daemon, from their sources to dist/. Types are checked by `npm run check`.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { build } from 'rolldown';

// Loaded by every command: bundled, and without what is unused of them, a command starts in half the time. The others
// stay packages of their own; better-sqlite3 has to, with its native part.
const bundled = /^(commander|fast-string-(truncated-)?width|fastest-levenshtein|picocolors|yaml|zod)($|\/)/;

const { output } = await build({
  input: {
    hookmill: 'cli/main.ts',
    // Each runs in a thread or process of its own, started by its name beside the file that starts it.
    'delivery-log-worker': 'store/embedded/delivery-log/write/delivery-log-worker.ts',
    'delivery-log-query-worker': 'store/embedded/delivery-log/read/delivery-log-query-worker.ts',
    'git-launcher': 'sources/repository/git/git-launcher.ts',
  },
  platform: 'node',
  external: id => !id.startsWith('.') && !isAbsolute(id) && !bundled.test(id),
  output: { format: 'esm' },
  write: false,
});
mkdirSync('dist', { recursive: true });
for (const file of output) if (file.type === 'chunk') replace(`dist/${file.fileName}`, file.code);

// What an earlier build left goes last: a command that is running may still load its parts.
const built = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync('dist')) if (file.endsWith('.js') && !built.has(file)) rmSync(`dist/${file}`);

/** Writes a file whole, and only if it changed: commands may be running from it. */
function replace(file: string, code: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === code) return;
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, code);
  renameSync(temporary, file);
}
