import { expect, onTestFinished, test } from 'vitest';
import { type AppliedWebhook, emptyAppliedState } from '../../../../schema/applied-state.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { type MakePlace, openAt } from './place.ts';

export function testAppliedStates(makePlace: MakePlace): void {
  test('are empty until something is applied', async () => {
    const { appliedStates } = openAt(makePlace());
    expect(await appliedStates.listFactories()).toEqual([]);
    expect(await appliedStates.read('default')).toEqual(emptyAppliedState('default'));
    expect(await appliedStates.readVersion('default')).toBeUndefined();
  });

  test('are read as they were written, by every process, with the serial counted', async () => {
    const place = makePlace();
    const [one, other] = [openAt(place), openAt(place)];
    await addWebhook(one, 'pay', 'crm');
    await addWebhook(other, 'code', 'crm');
    const destroyed = [
      { name: 'gone', uid: `wh_${'9'.repeat(24)}`, authMode: 'token' as const, destroyedAt: '2026-01-01' },
    ];
    await one.appliedStates.change('crm', async state => ({
      next: { ...state, destroyed },
      result: undefined,
    }));
    const expected = {
      ...emptyAppliedState('crm'),
      destroyed,
      serial: 3,
      source: { kind: 'dashboard' },
      webhooks: [makeWebhook('pay'), makeWebhook('code')],
    };
    for (const store of [one, other, openAt(place)]) {
      expect(await store.appliedStates.read('crm')).toEqual(expected);
    }
  });

  test('are separate for each factory, and listed by name', async () => {
    const store = openAt(makePlace());
    for (const factory of ['sales', 'billing']) await addWebhook(store, factory, factory);
    expect(await store.appliedStates.listFactories()).toEqual(['billing', 'sales']);
    expect((await store.appliedStates.read('sales')).webhooks).toEqual([makeWebhook('sales')]);
  });

  test('stay as they are if a change returns nothing or fails', async () => {
    const store = openAt(makePlace());
    await addWebhook(store, 'pay');
    const { appliedStates } = store;
    const [state, version] = await Promise.all([
      appliedStates.read('default'),
      appliedStates.readVersion('default'),
    ]);
    await appliedStates.change('default', async () => ({ result: undefined }));
    const failing = appliedStates.change('default', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await appliedStates.read('default')).toEqual(state);
    expect(await appliedStates.readVersion('default')).toBe(version);
    await addWebhook(store, 'code');
    expect((await appliedStates.read('default')).serial).toBe(2);
  });

  test('are all read with their versions, as each of them is', async () => {
    const store = openAt(makePlace());
    const { appliedStates } = store;
    for (const factory of ['sales', 'billing']) await addWebhook(store, factory, factory);
    const all: unknown[] = [];
    for await (const { parse, factory, version } of appliedStates.readEach())
      all.push({ factory, version, state: parse() });
    const expected = ['billing', 'sales'].map(async factory => ({
      ...{ factory, version: await appliedStates.readVersion(factory) },
      state: await appliedStates.read(factory),
    }));
    expect(all).toEqual(await Promise.all(expected));
    for await (const { version, size } of appliedStates.readEach(['sales', 'other']))
      expect(size > 100).toBe(version !== undefined);
  });

  test('lose no change when two processes change one at the same time', async () => {
    const place = makePlace();
    const stores = [openAt(place), openAt(place)];
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
    await Promise.all(names.map((name, index) => addWebhook(stores[index % 2] ?? openAt(place), name)));
    const { serial, webhooks } = await openAt(place).appliedStates.read('default');
    expect(serial).toBe(10);
    expect(webhooks.map(({ name }) => name).sort()).toEqual(names);
  });

  test('are changed by one process at a time: the other fails after the time limit', async () => {
    const place = makePlace();
    const [holder, other] = [openAt(place), openAt(place, { lockTimeoutMs: 0 })];
    await holder.appliedStates.change('default', async state => {
      await expect(addWebhook(other, 'late')).rejects.toMatchObject({ code: 'locked' });
      await addWebhook(other, 'elsewhere', 'another-factory');
      return { next: state, result: undefined };
    });
    await addWebhook(other, 'later');
    expect((await other.appliedStates.read('default')).serial).toBe(2);
  });

  test('are read once until another process changes them', async () => {
    const place = makePlace();
    const [one, other] = [openAt(place), openAt(place)];
    await addWebhook(other, 'pay');
    const { read } = one.appliedStates;
    // A file that has just been written may change and keep its version.
    await expect.poll(async () => new Set([await read('default'), await read('default')]).size).toBe(1);
    await addWebhook(other, 'code');
    expect((await read('default')).webhooks).toEqual([makeWebhook('pay'), makeWebhook('code')]);
  });

  test('have another version after each change', async () => {
    const store = openAt(makePlace());
    const versions = new Set<string | undefined>([await store.appliedStates.readVersion('default')]);
    for (const name of ['a', 'b', 'c']) {
      await addWebhook(store, name);
      versions.add(await store.appliedStates.readVersion('default'));
    }
    expect(versions.size).toBe(4);
  });

  test('are watched: a change by another process is noticed, also of a new factory', async () => {
    const place = makePlace();
    const [watcher, writer] = [openAt(place), openAt(place)];
    let awaited: { factory: string; seen: () => void } | undefined;
    const watch = await watcher.appliedStates.watch(async () => {
      const waiting = awaited;
      if (waiting && (await watcher.appliedStates.readVersion(waiting.factory))) waiting.seen();
    });
    onTestFinished(() => watch.close());
    for (const factory of ['default', 'new']) {
      await new Promise<void>(resolve => {
        awaited = { factory, seen: resolve };
        void addWebhook(writer, 'pay', factory);
      });
      expect((await watcher.appliedStates.read(factory)).serial).toBe(1);
    }
  });
}

export async function addWebhook(
  { appliedStates }: Store,
  name: string,
  factory = 'default',
  secretName = 'TOKEN',
): Promise<void> {
  await appliedStates.change(factory, async state => {
    const webhooks = [...state.webhooks, makeWebhook(name, secretName)];
    return { next: { ...state, source: { kind: 'dashboard' }, webhooks }, result: undefined };
  });
}

function makeWebhook(name: string, secretName = 'TOKEN'): AppliedWebhook {
  return {
    name,
    uid: `wh_${name.replaceAll('-', '').padStart(24, '0')}`,
    authMode: 'token',
    secretName,
    enabled: true,
    credential: { kind: 'unset' },
  };
}
