import { expect, test } from 'vitest';
import { hasEscapedKeyDefect } from '../../../../json/parse-json-text.ts';
import { applyTriggered } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemonForTest } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

test('a payload of another factory does not change how the keys of later payloads are read', async () => {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace);
  const filters = { wide: ['xl'], narrow: { not_in: ['xl'] } };
  for (const [name, größe] of Object.entries(filters)) {
    const filter = { webhook_ids: [uid], payload: { größe } };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    workspace.write(`automations/${name}.yaml`, JSON.stringify({ prompt: 'Act.', triggers }));
  }
  await workspace.hookmill('apply');
  const daemon = await startDaemonForTest({ workspace, settings: { logLevel: 'debug' } });
  // Only at the level debug, which is 20 in pino.
  const line = daemon.stderr().match(/^.*nodejs\/node#63785.*$/m);
  expect(line && JSON.parse(line[0]).level).toBe(hasEscapedKeyDefect() ? 20 : null);

  const stranger = await daemon.webhook();
  const answer = await stranger.post(String.raw`{"id":1,"gr\\u0":1}`);
  expect(answer.status).toBe(202);

  const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
  const body = String.raw`{"id":1,"gr\u00f6\u00dfe":"xl"}`;
  const { deliveryId } = await send(url, { body, headers: bearerOf(secret) });
  const { stdout } = await workspace.hookmill('deliveries', 'show', String(deliveryId), '-o', 'json');
  const { runs, evaluation } = JSON.parse(stdout);
  expect(runs.map(({ automation }: { automation: string }) => automation).sort()).toEqual(['act', 'wide']);
  expect(evaluation.automations).toMatchObject([
    { automation: 'act', wouldTrigger: true },
    { automation: 'narrow', wouldTrigger: false },
    { automation: 'wide', wouldTrigger: true },
  ]);
});
