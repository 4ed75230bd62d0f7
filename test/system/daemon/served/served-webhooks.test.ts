import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadState } from '../../../../daemon/served/loaded-state.ts';
import { findWebhook, prepareWebhooks } from '../../../../daemon/served/served-webhooks.ts';
import { type AppliedState, emptyAppliedState } from '../../../../schema/applied-state.ts';
import type { RunFlowKeys } from '../../../../schema/definitions/automation-definition.ts';
import { openHomeSeal } from '../../../../store/embedded/files/home-seal.ts';
import { newHome } from '../../../support/factory.ts';

const uidOf = (name: string) => `wh_${name.padEnd(24, '0')}`;

/** Serves one webhook with few filters, one with many, and one with none. */
async function serve(change: Partial<AppliedState> = {}, flow: RunFlowKeys = {}) {
  const automation = (webhook: string) => (_: unknown, index: number) => ({
    name: `${webhook}-${index}`,
    enabled: index !== 1,
    prompt: 'Look.',
    ...flow,
    triggers: [
      {
        provider: 'webhook' as const,
        event: 'received' as const,
        filter: { webhook_ids: [uidOf(webhook)], payload: { action: [index], note: { not_in: ['ä\n'] } } },
      },
    ],
  });
  const state: AppliedState = {
    ...emptyAppliedState('crm'),
    serial: 1,
    webhooks: ['few', 'many', 'none', 'off'].map(name => ({
      ...{ name, uid: uidOf(name), authMode: 'token' as const, secretName: 'TOKEN', enabled: name !== 'off' },
      ...{ deliveryIdHeader: 'X-Näme', keepHeaders: ['X-Tenant'] },
      credential: { kind: 'digest' as const, secretVersion: '1', sha256: hash('sha256', name) },
    })),
    automations: [
      ...Array.from({ length: 3 }, automation('few')),
      ...Array.from({ length: 1_000 }, automation('many')),
    ],
    ...change,
  };
  const loaded = loadState(state, await openHomeSeal(newHome(), {}).opener(), 'crm');
  const webhooks = await prepareWebhooks(loaded);
  return { loaded, find: (name: string) => findWebhook(webhooks, uidOf(name)) };
}

describe('a webhook', () => {
  test('is found with all that its definition says, and is compiled once', async () => {
    const { find, loaded } = await serve();
    expect(find('few')).toMatchObject({
      ...{ factory: 'crm', name: 'few', uid: uidOf('few'), authMode: 'token', authenticatedBy: 'token' },
      appliedState: loaded.snapshot,
    });
    const request = {
      headers: { 'x-näme': 'evt_1' },
      body: Buffer.from('1'),
      payload: 1,
      toJson: () => '1',
      schemeDeliveryId: undefined,
    };
    expect(find('few')?.identify(request)).toEqual({ identity: 'evt_1', identitySource: 'deliveryIdHeader' });
    expect(find('few')?.keptHeaders).toContain('x-tenant');
    expect(find('few')).toBe(find('few'));
  });

  test('is not found if it is disabled, or of another factory', async () => {
    const { find, loaded } = await serve();
    expect([find('off'), find('unknown')]).toEqual([undefined, undefined]);
    expect(loaded.webhooks.uids).toEqual(['few', 'many', 'none'].map(uidOf));
  });

  test('starts runs of the enabled automations that match, whether they are few or many', async () => {
    const { find, loaded } = await serve();
    expect([...loaded.filterParts.keys()]).toEqual([uidOf('many')]);
    const match = (name: string, payload: object) =>
      find(name)
        ?.matchRuns(payload)
        .map(({ automation }) => automation);
    expect(match('few', { action: 2 })).toEqual(['few-2']);
    expect(match('few', { action: 1 })).toEqual([]);
    expect(match('few', { action: 2, note: 'ä\n' })).toEqual([]);
    expect(match('many', { action: 999 })).toEqual(['many-999']);
    expect(match('none', { action: 2 })).toEqual([]);
  });

  test('gives each run the flow that its automation says, few or many', async () => {
    const { find } = await serve({}, { order: '$.action', runsPerHour: 9 });
    for (const [name, action] of [
      ['few', 2],
      ['many', 999],
    ] as const) {
      const flow = { order: { lane: expect.stringMatching(/^[\w-]{22}$/), hold: false }, runsPerHour: 9 };
      expect(find(name)?.matchRuns({ action })).toEqual([{ automation: `${name}-${action}`, flow }]);
    }
  });
});

test('a webhook with a scheme that is unknown here is not served, with the reason', async () => {
  const { webhooks } = (await serve()).loaded;
  expect(webhooks.uids).toHaveLength(3);
  const { loaded } = await serve({
    webhooks: [
      {
        ...{ name: 'few', uid: uidOf('few'), authMode: 'signature', signatureScheme: 'of-tomorrow' },
        ...{ secretName: 'TOKEN', enabled: true, credential: { kind: 'unset' } },
      },
    ],
  });
  expect(loaded.webhooks.uids).toEqual([]);
  expect([...loaded.unserved]).toEqual([[uidOf('few'), 'unknown signature scheme: of-tomorrow']]);
});
