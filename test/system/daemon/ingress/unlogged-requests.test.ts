import { afterAll, beforeAll, expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import type { UnloggedFilter } from '../../../../store/ports/delivery-log.ts';
import { bearerOf, startDaemon, type TestWebhook } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { readStore } from '../../../support/stored.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  const limits = { deliveriesPerMinute: 2, failedAuthPerMinute: 3, failedAuthPerMinuteTotal: 2 };
  daemon = await openWebhookDaemon({ settings: { limits } });
});
afterAll(() => daemon.stop());

/** The counts as `reason: detail × count`. */
async function readCounts(filter: Pick<UnloggedFilter, 'factory'> & Partial<UnloggedFilter>) {
  const sums = await readStore(homeAt(daemon.workspace.home), ({ deliveries }) =>
    deliveries.sumUnlogged({ sinceMs: 0, ...filter }),
  );
  return sums.map(({ reason, detail, count }) => [reason, detail, count]).sort();
}

const countsOf = ({ factory, uid }: TestWebhook) => readCounts({ factory, uid });

test('counts deliveries over the rate limit', async () => {
  const webhook = await daemon.webhook();
  for (const body of ['1', '2', '3', '4', '5']) await webhook.post(body);
  await expect.poll(() => countsOf(webhook)).toEqual([['rate limit', '', 3]]);
});

test('counts rejections that have no row, and attempts that were not verified', async () => {
  const webhook = await daemon.webhook();
  for (const body of ['1', '2', '3', '4', '5', '6']) await webhook.post(body, { headers: bearerOf('wrong') });
  const expected = [
    ['authentication', '', 1],
    ['failed attempts', '', 3],
  ];
  await expect.poll(() => countsOf(webhook)).toEqual(expected);
  expect(await webhook.rows()).toHaveLength(2);
});

test('counts requests to a disabled webhook, and those with another method', async () => {
  const webhook = await daemon.webhook({ enabled: false });
  await webhook.post('1');
  await send(webhook.url, { method: 'PUT' });
  const expected = [
    ['disabled', '', 1],
    ['method', '', 1],
  ];
  await expect.poll(() => countsOf(webhook)).toEqual(expected);
});

test('counts what nearly was the URL of a webhook, and says how it differed', async () => {
  const { url, uid, factory } = await daemon.webhook();
  const at = (path: string) => send(daemon.ingressUrl, { target: path, body: '1' });
  const paths = [
    [`/webhooks/w/${uid.toUpperCase()}`, 'the UID is in upper case'],
    [`/webhooks/w/${uid.slice(0, 22)}`, 'the UID is cut off after 22 of 27 characters'],
    [`/webhooks/w/${uid.replace('_', '%5F')}`, 'the UID is percent-encoded'],
    [`/webhooks/w/${uid}%0A`, 'white space follows the UID'],
    [`/webhooks/w/${uid}/`, 'a slash follows the UID'],
    [`/webhooks/w/${uid}/x`, 'a slash follows the UID'],
    [`/webhook/${uid}`, 'the path before the UID is not /webhooks/w/'],
    [`/webhooks/w/${uid.slice(0, -1)}-`, 'one character of the UID is wrong'],
    [`/webhooks/w/${uid}%`, '"%" follows the UID'],
  ] as const;
  const differences = paths.map(([, difference]) => difference);
  for (const [path] of paths) expect(await at(path)).toMatchObject({ status: 404 });
  await expect
    .poll(async () =>
      (await readCounts({ factory, uid })).map(([reason, detail]) => `${reason}: ${detail}`).sort(),
    )
    .toEqual([...new Set(differences.map(difference => `similar URL: ${difference}`))].sort());
  expect(await send(url, { body: '1' })).toMatchObject({ status: 401 });
});

test('counts unknown URLs together, and names none of them', async () => {
  const before = (await readCounts({ factory: '' }))[0]?.[2] ?? 0;
  await send(daemon.ingressUrl, { target: `/webhooks/w/wh_${'x'.repeat(24)}` });
  await send(daemon.ingressUrl, { target: '/webhooks/w/nobody' });
  await send(daemon.ingressUrl, { target: '/favicon.ico' });
  await send(daemon.ingressUrl, { target: '/webhooks/w/nobody', method: 'GET' });
  await expect.poll(() => readCounts({ factory: '' })).toEqual([['unknown URL', '', Number(before) + 2]]);
});

test('shows their numbers in the metrics', async () => {
  const webhook = await daemon.webhook({ enabled: false });
  await webhook.post('1');
  expect(await daemon.metrics()).toMatch(/^hookmill_unlogged_requests_total\{reason="disabled"\} [1-9]/m);
});

test('writes what was counted last before the daemon ends', async () => {
  const own = await startDaemon();
  const webhook = await own.webhook({ enabled: false });
  for (let request = 0; request < 20; request++) await webhook.post('1');
  expect(await own.stop()).toBe(0);
  const [sum] = await readStore(homeAt(own.workspace.home), ({ deliveries }) =>
    deliveries.sumUnlogged({ factory: webhook.factory, sinceMs: 0 }),
  );
  expect(sum).toMatchObject({ reason: 'disabled', count: 20 });
});
