import { expect, test } from 'vitest';
import { addReconcileEnd, neverReconciled } from '../../../../store/ports/reconcile-statuses.ts';
import { type MakePlace, openAt } from './place.ts';

const followed = { repository: 'https://git.example/hooks', branch: 'main', path: '', credential: null };
const tip = {
  revision: 'f'.repeat(40),
  author: 'Ada',
  subject: 'Add pay',
  committedAt: '2026-01-01T00:00:00.000Z',
};
const diagnostic = {
  code: 'definition/unknown-key',
  severity: 'error',
  message: 'unknown key "secretNam"',
  file: 'webhooks/pay.yaml',
  range: { start: { line: 2, column: 1 }, end: { line: 2, column: 10 } },
  hint: 'did you mean secretName?',
} as const;

export function testReconcileStatuses(makePlace: MakePlace): void {
  test('say that a factory was never reconciled until a status is stored', async () => {
    expect(await openAt(makePlace()).reconcileStatuses.read('default')).toEqual(neverReconciled);
  });

  test('are read as they were written, by every process, one for each factory', async () => {
    const place = makePlace();
    const { reconcileStatuses } = openAt(place);
    const failed = addReconcileEnd(
      neverReconciled,
      followed,
      { ok: false, reason: 'invalid', message: 'errors', tip, commitsBehind: 2, diagnostics: [diagnostic] },
      '2026-01-02T00:00:00.000Z',
    );
    await reconcileStatuses.change('default', () => failed);
    expect(await openAt(place).reconcileStatuses.read('default')).toEqual(failed);
    expect(await openAt(place).reconcileStatuses.read('other')).toEqual(neverReconciled);
  });

  test('of an earlier version have no commits and no request', async () => {
    const place = makePlace();
    const { askedAt: _, recent: __, ...earlier } = neverReconciled;
    await openAt(place).reconcileStatuses.change('default', () => earlier as typeof neverReconciled);
    expect(await openAt(place).reconcileStatuses.read('default')).toEqual(neverReconciled);
  });

  test('lose no change when two processes change one at the same time', async () => {
    const place = makePlace();
    const stores = [openAt(place), openAt(place)];
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        stores[index % 2]?.reconcileStatuses.change('default', status => ({
          ...status,
          commitsBehind: (status.commitsBehind ?? 0) + 1,
        })),
      ),
    );
    expect((await openAt(place).reconcileStatuses.read('default')).commitsBehind).toBe(10);
  });

  test('stay as they are if a change fails', async () => {
    const { reconcileStatuses } = openAt(makePlace());
    const fail = () => {
      throw new Error('no');
    };
    await expect(reconcileStatuses.change('default', fail)).rejects.toThrow('no');
    expect(await reconcileStatuses.read('default')).toEqual(neverReconciled);
  });
}
