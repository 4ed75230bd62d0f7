import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { startDaemonForTest } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** The time between two deliveries, in ms. */
const everyMs = 10;
const [old, next] = ['the-old-secret-of-the-sender', 'the-new-secret-of-the-sender'];

interface Sent {
  readonly secret: string;
  /** Whether the overlap had ended when it was sent. */
  readonly isAfterEnd: boolean;
  readonly status: number;
}

test('a sender that switches at a random moment under 100 deliveries per second loses nothing', async () => {
  const workspace = makeWorkspace();
  const succeed = async (words: string, stdin = '') => {
    const { exitCode, stdout, stderr } = await workspace.hookmill(...words.split(' '), { stdin });
    expect(exitCode, `${words}: ${stderr}`).toBe(0);
    return stdout;
  };
  workspace.write('webhooks/pay.yaml', '{ authMode: signature, signatureScheme: github, secretName: PAY }');
  await succeed('secrets set PAY', old);
  await succeed('apply --yes');
  const settings = { limits: { deliveriesPerMinute: 100_000 } };
  const daemon = await startDaemonForTest({ workspace, settings });
  const { uid } = JSON.parse(await succeed('webhooks show pay -o json'));
  const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;

  let secret = old;
  let isEnded = false;
  let n = 0;
  const sending: Promise<Sent>[] = [];
  const post = async (): Promise<Sent> => {
    const [given, isAfterEnd] = [secret, isEnded];
    const body = JSON.stringify({ n: ++n });
    const signature = createHmac('sha256', given).update(body).digest('hex');
    const { status } = await send(url, { headers: { 'x-hub-signature-256': `sha256=${signature}` }, body });
    return { secret: given, isAfterEnd, status };
  };
  const timer = setInterval(() => sending.push(post()), everyMs);
  const sentMore = (count: number) => {
    const wanted = sending.length + count;
    return eventually(() => sending.length >= wanted);
  };
  try {
    await sentMore(20);
    await succeed('secrets set PAY --overlap 2h', next);
    await sentMore(1 + Math.floor(Math.random() * 30));
    await succeed('apply --yes');
    await served(daemon, 2);
    await sentMore(1 + Math.floor(Math.random() * 100));
    secret = next;
    await sentMore(50);
    await Promise.all(sending);
    await succeed('secrets set PAY --end');
    await served(daemon, 3);
    isEnded = true;
    await sentMore(20);
    secret = old;
    await sentMore(5);
  } finally {
    clearInterval(timer);
  }
  const sent = await Promise.all(sending);
  const dead = sent.filter(({ secret, isAfterEnd }) => secret === old && isAfterEnd);
  expect(dead.length).toBeGreaterThanOrEqual(5);
  expect(new Set(dead.map(({ status }) => status))).toEqual(new Set([401]));
  const others = sent.filter(one => !dead.includes(one));
  expect(others.filter(({ status }) => status !== 202)).toEqual([]);
  const rows = JSON.parse(await succeed('deliveries list --outcome accepted --limit 5000 -o json'));
  expect(rows).toHaveLength(others.length);
  const byPrevious = rows.filter(
    ({ verifiedWith }: { verifiedWith?: string }) => verifiedWith === 'previous',
  );
  // Some were sent before the overlap, some during it, and some with the new secret.
  expect(byPrevious.length).toBeGreaterThan(0);
  expect(byPrevious.length).toBeLessThan(others.filter(({ secret }) => secret === old).length);
});

function served(daemon: { readyz(): Promise<{ factories: readonly { serial: number }[] }> }, serial: number) {
  return eventually(async () => (await daemon.readyz()).factories[0]?.serial === serial);
}
