import { expect, test } from 'vitest';
import { recordChange } from '../../../../operations/access/audit.ts';
import { type Changeable, recordWrites } from '../../../../operations/access/record-writes.ts';
import { makeRunVerbs } from '../../../../operations/factory.ts';
import { emptyAppliedState } from '../../../../schema/applied-state.ts';
import { Refusal } from '../../../../schema/refusal.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { newHome } from '../../../support/factory.ts';
import { storeIn } from '../../../support/stored.ts';

const planned = {
  who: { kind: 'token' as const, name: 'ci' },
  from: '192.0.2.1',
  operation: 'createWebhook',
  factory: 'default',
  subject: 'planned',
};

/** A home in which each write of the delivery log, and of team secrets, notes the entries of the audit log. */
function openObserved() {
  const store = storeIn(newHome());
  const seen: unknown[] = [];
  const look = async () => {
    seen.push(...(await store.auditLog.list({ limit: 9 })));
    return true;
  };
  const log = makeRunVerbs(() => look);
  const teamSecrets = { ...store.teamSecrets, set: async () => void (await look()) };
  const parts = { store: { ...store, teamSecrets }, deliveryLog: log, now: () => new Date() };
  const record = (work: (parts: Changeable) => Promise<unknown>) =>
    recordWrites(parts, planned, work, () => 'done');
  const list = async () =>
    (await store.auditLog.list({ limit: 9 })).map(({ subject, unfinished }) => ({ subject, unfinished }));
  return { store, seen, record, list };
}

test('has an unfinished entry before the first write of a request, and one entry after all of them', async () => {
  for (const write of [
    ({ deliveryLog }) => deliveryLog.dismissRun('run_1'),
    ({ deliveryLog }) => deliveryLog.retryRun({ id: 'run_1', nowMs: 0 }),
    ({ store }) => store.teamSecrets.set('A', 'x'),
  ] satisfies ((parts: Changeable) => Promise<unknown>)[]) {
    const { seen, record, list } = openObserved();
    await record(async parts => {
      await write(parts);
      await write(parts);
    });
    expect(seen).toMatchObject(Array(2).fill({ subject: 'planned', unfinished: true }));
    expect(await list()).toEqual([{ subject: 'done', unfinished: undefined }]);
  }
});

/** Names the verbs of the store that begin the entry of a change before they are called. */
async function listBeginning(store: Store): Promise<string[]> {
  const begins: string[] = [];
  for (const [part, verbs] of Object.entries(store)) {
    const names = typeof verbs === 'function' ? [''] : Object.keys(verbs ?? {});
    for (const verb of part === 'place' ? [] : names) {
      const name = verb === '' ? part : `${part}.${verb}`;
      const auditLog = {
        ...store.auditLog,
        begin: async () => begins.push(name),
        end: async () => undefined,
      };
      const stub = async () => undefined;
      const stubbed = {
        ...store,
        auditLog,
        [part]: verb === '' ? stub : { ...(verbs as object), [verb]: stub },
      };
      if (part === 'auditLog') continue;
      const call = async ({ store: given }: Changeable) => {
        const value = given[part as keyof Store] as unknown as Readonly<
          Record<string, (given: object) => unknown>
        >;
        await (verb === ''
          ? (value as unknown as (given: object) => unknown)({})
          : value[verb]?.({ factory: 'default' }));
      };
      const parts = { store: stubbed as Store, deliveryLog: makeRunVerbs(() => stub), now: () => new Date() };
      await recordWrites(parts, planned, call, () => null);
    }
  }
  return begins;
}

test('begins with each verb of the store, except with those that only read or learn', async () => {
  const { store } = openObserved();
  const begins = await listBeginning(store);
  for (const verb of ['share', 'remove', 'refer', 'set']) expect(begins).toContain(`teamSecrets.${verb}`);
  for (const verb of [
    'sessions.remove',
    'runFiles.remove',
    'apiTokens.create',
    'openDeliveryLog',
    'rotateKey',
  ])
    expect(begins).toContain(verb);
  const quiet = Object.entries(store).flatMap(([part, verbs]) => {
    if (['place', 'auditLog', 'deliveries'].includes(part)) return [];
    if (typeof verbs === 'function') return begins.includes(part) ? [] : [part];
    return Object.keys(verbs ?? {})
      .map(verb => `${part}.${verb}`)
      .filter(name => !begins.includes(name));
  });
  expect(begins.filter(name => name.startsWith('deliveries.'))).toEqual([]);
  expect(quiet.sort()).toEqual(
    [
      // Begins once it is known that there is a next state.
      'appliedStates.change',
      ...['listFactories', 'read', 'readEach', 'readVersion', 'watch'].map(verb => `appliedStates.${verb}`),
      ...['alerts.read', 'apiTokens.find', 'apiTokens.list', 'apiTokens.recordUses', 'apiTokens.wasRevoked'],
      ...['check', 'checkDeliveryLog', 'close', 'daemonAddress.read', 'issuerKeys.read', 'mirrors.use'],
      ...['offeredRunners.read', 'openSnapshot', 'reconcileStatuses.read', 'requireSafe'],
      ...['list', 'listArtifacts', 'locate', 'locateOutput', 'readArtifact', 'readOutput'].map(
        verb => `runFiles.${verb}`,
      ),
      ...['deriveKeys', 'open', 'opener', 'reseal', 'seal'].map(verb => `seal.${verb}`),
      ...['senderStates.learn', 'senderStates.read', 'sessions.find', 'sessions.list', 'sessions.recordUse'],
      ...['teamSecrets.list', 'teamSecrets.listNames', 'teamSecrets.open'],
    ].sort(),
  );
});

test('has no entry if an applied state is only looked at, and keeps that of a change whose end is unknown', async () => {
  const { record, list } = openObserved();
  const change = (next: boolean, then: () => void) =>
    record(async ({ store }) => {
      const state = emptyAppliedState('default');
      await store.appliedStates.change('default', async () => ({ ...(next && { next: state }), result: 1 }));
      then();
    });
  await change(false, () => undefined);
  expect(await list()).toEqual([]);
  const refuse = () => {
    throw new Refusal('serial-moved');
  };
  await expect(change(true, refuse)).rejects.toMatchObject({ code: 'serial-moved' });
  expect(await list()).toEqual([]);
  const fail = () => {
    throw new Error('nobody knows');
  };
  await expect(change(true, fail)).rejects.toThrow('nobody knows');
  expect(await list()).toEqual([{ subject: 'planned', unfinished: true }]);
});

test('keeps the entry of a refused change only if a part of it may be made, and has none before a change of the place', async () => {
  const refuse = () => Promise.reject(new Refusal('webhook-unknown', { detail: 'x' }));
  const entriesAfter = async (when: 'before' | 'in-parts' | 'after') => {
    const { store, list } = openObserved();
    await recordChange({ store, now: () => new Date() }, planned, refuse, undefined, when).catch(
      () => undefined,
    );
    return list();
  };
  expect(await entriesAfter('before')).toEqual([]);
  expect(await entriesAfter('in-parts')).toEqual([{ subject: 'planned', unfinished: true }]);
  expect(await entriesAfter('after')).toEqual([]);
});
