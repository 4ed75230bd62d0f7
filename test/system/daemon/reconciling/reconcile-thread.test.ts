import { expect, onTestFinished, test } from 'vitest';
import { ReconcileThread } from '../../../../daemon/reconciling/reconcile-thread.ts';
import { toFollowedBranch } from '../../../../sources/repository/followed-repository.ts';
import type { ReconcileFailure } from '../../../../store/ports/reconcile-statuses.ts';
import { newHome } from '../../../support/factory.ts';
import { makeUpstream } from '../../../support/git-samples.ts';
import { storeIn } from '../../../support/stored.ts';

const trigger = {
  provider: 'webhook',
  event: 'received',
  filter: { webhook_ids: ['wh_0123456789abcdefghijklmn'] },
};
const automation = JSON.stringify({ prompt: 'Act.', triggers: Array.from({ length: 10 }, () => trigger) });

function openBench(busyMs: number) {
  const failures: ReconcileFailure[] = [];
  const { place } = storeIn(newHome());
  const onTooLarge = async (_: string, __: unknown, failure: ReconcileFailure) => {
    failures.push(failure);
  };
  const thread = new ReconcileThread({ place, environment: process.env, onTooLarge, busyMs });
  onTestFinished(() => thread.close());
  const reconcile = (repository: string, signal = new AbortController().signal) => {
    const followed = { factory: 'default', repository, branch: 'main', path: '.', interval: '30s' };
    return thread.reconcile(
      'default',
      toFollowedBranch({ ...followed, credentialUsername: 'x-access-token' }),
      signal,
    );
  };
  return { failures, reconcile };
}

test('applies the tip, and reports nothing of the definitions but how many changed', async () => {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'automations/a.yaml': automation });
  const { reconcile } = openBench(600_000);
  const applied = await reconcile(upstream.bare);
  expect(applied).toMatchObject({ result: 'applied', tip: { revision }, serial: 1, summary: { add: 1 } });
  expect(Object.keys(applied).sort()).toEqual(['result', 'serial', 'summary', 'tip']);
  expect(await reconcile(upstream.bare)).toEqual({ result: 'unchanged' });
});

test('stops a reconcile whose definitions keep the thread busy, and tells why', async () => {
  const upstream = makeUpstream();
  // Four million scalars, which take a parser many times as long as their bytes in text.
  const slow = `${automation.slice(0, -1)}, "unknown": [${'0,'.repeat(10_000)}]}`;
  const files = Array.from({ length: 380 }, (_, index) => [`automations/a${index}.yaml`, slow]);
  upstream.commit(Object.fromEntries(files));
  // Longer than the second between two signs of life, and several times shorter than it takes to parse the files.
  const { failures, reconcile } = openBench(2_000);
  let report = await reconcile(upstream.bare);
  // On a starved machine, the thread may be late before it has anything to apply. Then the reconcile is only repeated.
  while (report.result === 'stopped') report = await reconcile(upstream.bare);
  expect(report).toMatchObject({ result: 'failed', reason: 'too-large' });
  expect(failures).toHaveLength(1);
});
