import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../../schema/audit-entry.ts';
import { type MakePlace, openAt } from './place.ts';

const entry = (subject: string, factory: string | null = 'default'): AuditEntry => ({
  at: '2026-01-02T03:04:05.678Z',
  who: { kind: 'token', name: 'ci "1"' },
  from: '192.0.2.1',
  operation: 'createWebhook',
  factory,
  subject,
});

export function testAuditLog(makePlace: MakePlace): void {
  test('lists the newest entries first, those of a factory or all, page by page, in every process', async () => {
    const place = makePlace();
    const { auditLog } = openAt(place);
    expect(await auditLog.list({ limit: 9 })).toEqual([]);
    await auditLog.record([entry('a'), entry('other', 'crm'), entry('line\nbreak \u2028')]);
    await openAt(place).auditLog.record([entry('all', null)]);
    const list = async (wanted: object) =>
      (await auditLog.list({ limit: 9, ...wanted })).map(({ subject }) => subject);
    expect(await list({})).toEqual(['all', 'line\nbreak \u2028', 'other', 'a']);
    expect(await list({ factory: 'default' })).toEqual(['line\nbreak \u2028', 'a']);
    expect(await list({ factory: 'crm', withAll: true })).toEqual(['all', 'other']);
    const [newest, next] = await auditLog.list({ limit: 2 });
    expect(newest).toMatchObject(entry('all', null));
    expect(await list({ before: next?.seq, limit: 1 })).toEqual(['other']);
  });

  test('loses no entry when several processes record at once', async () => {
    const place = makePlace();
    const logs = [openAt(place).auditLog, openAt(place).auditLog];
    const names = Array.from({ length: 20 }, (_, index) => `change ${index}`);
    await Promise.all(names.map((name, index) => logs[index % 2]?.record([entry(name)])));
    const listed = await logs[0]?.list({ limit: 99 });
    expect(listed?.map(({ subject }) => subject).sort()).toEqual(names.sort());
    expect(new Set(listed?.map(({ seq }) => seq)).size).toBe(20);
  });

  test('lists a change as unfinished until it ends, and not at all if nothing was changed', async () => {
    const place = makePlace();
    const { auditLog } = openAt(place);
    const begun = await Promise.all(['a', 'b', 'c'].map(subject => auditLog.begin(entry(subject))));
    const [a = 0, b = 0] = begun;
    const list = async (wanted = {}) =>
      (await openAt(place).auditLog.list({ limit: 9, ...wanted }))
        .map(({ seq: _, ...listed }) => listed)
        .sort((one, other) => (one.subject < other.subject ? -1 : 1));
    const unfinished = { unfinished: true as const };
    expect(await list()).toEqual(['a', 'b', 'c'].map(subject => ({ ...entry(subject), ...unfinished })));
    await openAt(place).auditLog.end(a, entry('A'));
    await auditLog.end(b, null);
    expect(await list()).toEqual([entry('A'), { ...entry('c'), ...unfinished }]);
    await auditLog.record([entry('d')]);
    expect(await list({ limit: 1 })).toEqual([entry('d')]);
  });

  test('forgets the oldest entries, and keeps as many as it should', async () => {
    const { auditLog } = openAt(makePlace());
    for (let index = 0; index < 20; index++) {
      const begun = await auditLog.begin(entry(String(index)), 5);
      await auditLog.end(begun, entry(String(index)), 5);
    }
    const kept = (await auditLog.list({ limit: 99 })).map(({ subject }) => subject);
    expect(kept.slice(0, 5)).toEqual(['19', '18', '17', '16', '15']);
    expect(kept.length).toBeLessThanOrEqual(10);
  });

  test('keeps the entries of a factory however many those who manage another one cause', async () => {
    const { auditLog } = openAt(makePlace());
    const keep = (subject: string, factory: string | null) => auditLog.record([entry(subject, factory)], 5);
    await keep('other', 'crm');
    await keep('all', null);
    for (let index = 0; index < 30; index++) {
      await auditLog.end(await auditLog.begin(entry(`refused ${index}`), 5), null, 5);
      await keep(String(index), 'default');
      await auditLog.begin(entry(`never ended ${index}`), 5);
    }
    const list = async (factory: string) =>
      (await auditLog.list({ factory, withAll: true, limit: 99 })).map(({ subject }) => subject);
    expect(await list('crm')).toEqual(['all', 'other']);
    const own = (await list('default')).filter(subject => /^\d+$/.test(subject));
    expect(own.slice(0, 5)).toEqual(['29', '28', '27', '26', '25']);
    expect(own.length).toBeLessThanOrEqual(15);
  });
}
