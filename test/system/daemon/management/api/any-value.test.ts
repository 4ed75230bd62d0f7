import { expect, test } from 'vitest';
import type { ApiRoute } from '../../../../../schema/api/route.ts';
import { apiRoutes, type OperationId } from '../../../../../schema/api/routes.ts';
import { type CallGiven, useManagedDaemon, withNewFactory } from '../../../../support/management.ts';

const daemon = useManagedDaemon();
/** PostgreSQL stores no NUL in a text. */
const nul = 'a\0b';
const operations = Object.entries(apiRoutes) as [OperationId, ApiRoute][];

test.each([nul, '__proto__', '-1e999', '%', "'; --", '\u{1f4a9}'])(
  'no value in a path or a query is a failure of the daemon, on any route: %j',
  async value => {
    const { call } = await withNewFactory(daemon()).client();
    const failed: unknown[] = [];
    for (const [id, { path, query }] of operations) {
      const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
        params: { [name]: value },
      }));
      const queries = Object.keys(query?.shape ?? {}).map(name => ({ query: { [name]: value } }));
      for (const given of [...parameters, ...queries] as CallGiven[]) {
        const { status, json } = await call(id, given);
        if (status >= 500) failed.push({ id, given, status, code: json.code });
      }
    }
    expect(failed).toEqual([]);
  },
);

test('a body may contain any text where text is free, and names nothing with it elsewhere', async () => {
  const { call } = await withNewFactory(daemon()).client();
  const codeOf = async (id: OperationId, given: CallGiven) => {
    const { status, json } = await call(id, given);
    return json?.code ?? status;
  };
  const { json: webhook } = await call('createWebhook', { body: { name: 'hook' } });
  const trigger = {
    provider: 'webhook',
    event: 'received',
    filter: { webhook_ids: [webhook.webhook.uid], payload: { a: [nul] } },
  };
  const automation = { name: 'fix', prompt: nul, triggers: [trigger] };
  expect(await codeOf('createAutomation', { body: automation })).toBe(201);
  const { json } = await call('showAutomation', { params: { automation: 'fix' } });
  expect(json.prompt).toBe(nul);
  expect(await codeOf('createWebhook', { body: { name: nul } })).toBe('request-invalid');
  expect(await codeOf('replayDelivery', { params: { delivery: nul }, body: { automation: nul } })).toBe(
    'delivery-unknown',
  );
  const files = [{ path: 'webhooks/a.yaml', content: `secretName: "${nul}"\n` }];
  expect(await codeOf('plan', { body: { files } })).toBe('definitions-invalid');
});
