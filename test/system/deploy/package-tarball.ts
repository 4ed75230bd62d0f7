import { hash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';

const root = join(import.meta.dirname, '../../..');
const migrations = ['store/embedded/delivery-log/sql/migrations', 'store/postgres/migrations'];
const shipped = [
  'package.json',
  'cli/bin.js',
  'deploy/ci/github/sticky-comment.ts',
  'deploy/ci/gitlab/sticky-note.ts',
  'dist',
  'schema/json',
  ...migrations,
  'docs/reference/diagnostics',
];

export interface Tarball {
  readonly file: string;
  readonly integrity: string;
}

/** A tarball of those parts of the package that its commands use. */
export function makeSmallTarball(): Tarball {
  const directory = mkdtempSync(join(tmpdir(), 'package-'));
  mkdirSync(join(directory, 'package/cli'), { recursive: true });
  for (const path of shipped) {
    cpSync(join(root, path), join(directory, 'package', path), { recursive: true });
  }
  const file = join(directory, 'hookmill.tgz');
  execaSync('tar', ['-I', 'gzip -1', '-cf', file, '-C', directory, 'package']);
  return { file, integrity: integrityOf(file) };
}

/** The tarball that `npm pack` makes of the built project. */
export function packProject(): Tarball {
  const directory = mkdtempSync(join(tmpdir(), 'package-'));
  const { stdout } = execaSync('npm', ['pack', '--ignore-scripts', '--pack-destination', directory], {
    cwd: root,
    stderr: 'ignore',
  });
  const file = join(directory, stdout.trim().split('\n').at(-1) ?? '');
  return { file, integrity: integrityOf(file) };
}

function integrityOf(file: string): string {
  return `sha512-${hash('sha512', readFileSync(file), 'base64')}`;
}
