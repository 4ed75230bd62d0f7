import { expect, test } from 'vitest';
import { openFileAuditLog } from '../../../store/embedded/files/file-audit-log.ts';
import { rowsPerPageMax } from '../../../store/ports/transfer.ts';
import { addAudit } from '../../../store/transfer-audit.ts';
import { newHome } from '../../support/factory.ts';

const entry = (subject: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  who: { kind: 'token' as const, name: 'ci' },
  from: '192.0.2.1',
  operation: 'createWebhook',
  factory: 'default',
  subject,
});

test('reads the audit log once for all pages of a copy', async () => {
  const auditLog = openFileAuditLog(newHome());
  const subjects = Array.from({ length: 2 * rowsPerPageMax + 1 }, (_, number) => `${number}`);
  await auditLog.record(subjects.map(entry));
  let reads = 0;
  const list: typeof auditLog.list = wanted => {
    reads++;
    return auditLog.list(wanted);
  };
  const { audit } = addAudit({ listLoggedFactories: async () => [] }, { ...auditLog, list });
  const copied: string[] = [];
  for (let after = 0; ; ) {
    const rows = await audit.read('', after);
    if (rows.length === 0) break;
    after = rows.at(-1)?.position ?? 0;
    copied.push(...rows.map(row => JSON.parse(row.entry).subject));
  }
  expect(copied).toEqual(subjects);
  expect(reads).toBe(1);
});
