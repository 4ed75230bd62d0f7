import { join } from 'node:path';
import { execa } from 'execa';
import { expect, inject, test } from 'vitest';
import { findServerPrograms } from './cluster.ts';
import { faults } from './faults.ts';

const program = join(import.meta.dirname, 'run-faults.ts');

test('two replicas keep every promise through each kind of fault', async ({ skip }) => {
  skip(!inject('isLong'), 'npm run test:long does it');
  skip(!findServerPrograms(), 'needs a PostgreSQL server with pg_basebackup');
  const rounds = Object.keys(faults).length;
  const { exitCode, all } = await execa(process.execPath, [program, '--rounds', `${rounds}`], {
    reject: false,
    all: true,
  });
  expect(exitCode, all).toBe(0);
});
