import { appendFileSync, copyFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openFileAuditLog } from '../../../../../store/embedded/files/file-audit-log.ts';
import { newHome } from '../../../../support/factory.ts';

const entry = {
  at: '2026-01-02T03:04:05.678Z',
  who: { kind: 'user' as const, name: 'ada' },
  from: 'laptop',
  operation: 'setSecret',
  factory: 'default',
  subject: 'A',
};

test('goes on after a line that a crash has cut off, in a file that only its owner can read', async () => {
  const home = newHome();
  const log = openFileAuditLog(home);
  await log.record([entry]);
  // Longer than the part of the file in which the newest line is looked for first.
  appendFileSync(home.auditFile, `\n{"seq":2,"at":"2026-01${'x'.repeat(70_000)}`);
  await log.record([{ ...entry, subject: 'B' }]);
  expect(await log.list({ limit: 9 })).toEqual([
    { ...entry, seq: 2, subject: 'B' },
    { ...entry, seq: 1 },
  ]);
  expect(statSync(home.auditFile).mode & 0o777).toBe(0o600);
});

test('lists each entry once after a crash left it in both files', async () => {
  const home = newHome();
  const log = openFileAuditLog(home);
  for (const subject of ['A', 'B', 'C', 'D', 'E']) await log.record([{ ...entry, subject }], 2);
  copyFileSync(home.auditFile, `${home.auditFile}.1`);
  const before = await log.list({ limit: 9 });
  await log.record([{ ...entry, subject: 'F' }], 2);
  const listed = (await log.list({ limit: 9 })).map(({ subject }) => subject);
  expect(listed).toEqual(['F', ...before.map(({ subject }) => subject)]);
  expect(new Set(listed).size).toBe(listed.length);
});
