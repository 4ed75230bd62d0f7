import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { credentialOwner, type SealedFor } from '../../../../store/ports/seal.ts';
import { addWebhook } from './applied-states.ts';
import { type MakePlace, openAt } from './place.ts';

const at = new Date('2026-01-02T03:04:05.678Z');

export function testTeamSecrets(makePlace: MakePlace): void {
  const open = () => openAt(makePlace(), { now: () => at }).teamSecrets;

  test('have a value that every process can open', async () => {
    const place = makePlace();
    const values = { TOKEN: 'schlüssel 🔑\n', LONG: 'x'.repeat(8_192) };
    for (const [name, value] of Object.entries(values)) await openAt(place).teamSecrets.set(name, value);
    const opened = await openAt(place).teamSecrets.open(['TOKEN', 'LONG', 'MISSING']);
    expect([...opened].map(([name, { value }]) => [name, value?.text]).sort()).toEqual(
      Object.entries(values).sort(),
    );
  });

  test('have another version with each new value, and the same with the same value', async () => {
    const secrets = open();
    const versions: (string | undefined)[] = [];
    for (const value of ['one', 'one', 'two', 'one']) {
      await secrets.set('TOKEN', value);
      versions.push((await secrets.open(['TOKEN'])).get('TOKEN')?.value?.version);
    }
    expect(versions[1]).toBe(versions[0]);
    expect(new Set(versions).size).toBe(3);
  });

  test('can be declared without a value, and get one later', async () => {
    const secrets = open();
    await secrets.create('LATER', undefined);
    expect(await secrets.open(['LATER'])).toEqual(new Map([['LATER', { name: 'LATER' }]]));
    expect(await secrets.list()).toMatchObject([{ name: 'LATER', state: 'declared' }]);
    await secrets.set('LATER', 'value');
    expect((await secrets.open(['LATER'])).get('LATER')?.value?.text).toBe('value');
  });

  test('are created once: the second attempt changes nothing', async () => {
    const secrets = open();
    await secrets.create('TOKEN', 'one');
    await expect(secrets.create('TOKEN', 'two')).rejects.toMatchObject({ code: 'secret-taken' });
    expect((await secrets.open(['TOKEN'])).get('TOKEN')?.value?.text).toBe('one');
  });

  test.for([
    ['an empty name', '', 'value'],
    ['a name with a blank', 'A B', 'value'],
    ['a name of 129 characters', 'A'.repeat(129), 'value'],
    ['a blank value', 'A', ' \n'],
    ['a value with a byte order mark', 'A', '\ufeffvalue'],
    ['a value of more than 8 KiB', 'A', 'x'.repeat(8_193)],
  ] as const)('refuse %s', async ([_, name, value]) => {
    const secrets = open();
    await expect(secrets.set(name, value)).rejects.toMatchObject({ code: 'secret-invalid' });
    await expect(secrets.create(name, value)).rejects.toMatchObject({ code: 'secret-invalid' });
    expect(await secrets.list()).toEqual([]);
  });

  test('are listed by name, with the webhooks of all factories that use them and without values', async () => {
    const store = openAt(makePlace(), { now: () => at });
    const { teamSecrets } = store;
    for (const name of ['TOKEN', 'FREE']) await teamSecrets.set(name, 'value');
    await addWebhook(store, 'pay', 'default', 'TOKEN');
    await addWebhook(store, 'code', 'other', 'TOKEN');
    const updatedAt = at.toISOString();
    expect(await teamSecrets.list()).toEqual([
      { name: 'FREE', state: 'set', updatedAt, factories: null, usedBy: [] },
      {
        name: 'TOKEN',
        state: 'set',
        updatedAt,
        factories: null,
        usedBy: [
          { factory: 'default', webhook: 'pay', authMode: 'token' },
          { factory: 'other', webhook: 'code', authMode: 'token' },
        ],
      },
    ]);
    expect(await teamSecrets.listNames()).toEqual(['FREE', 'TOKEN']);
  });

  test('are removed unless a webhook uses them', async () => {
    const store = openAt(makePlace());
    const { teamSecrets } = store;
    for (const name of ['TOKEN', 'FREE']) await teamSecrets.set(name, 'value');
    await addWebhook(store, 'pay', 'other', 'TOKEN');
    const refused = teamSecrets.remove('TOKEN');
    await expect(refused).rejects.toMatchObject({ code: 'secret-in-use', message: /webhook pay/ });
    await teamSecrets.remove('FREE');
    expect(await teamSecrets.listNames()).toEqual(['TOKEN']);
    await expect(teamSecrets.remove('FREE')).rejects.toMatchObject({ code: 'secret-unknown' });
  });

  test('are only for their factory until they are shared, and show no value to any other', async () => {
    const { teamSecrets } = openAt(makePlace());
    await teamSecrets.set('MINE', 'value', 'shop');
    await teamSecrets.create('OURS', 'value');
    const forbidden = new Map([['MINE', { name: 'MINE', forbiddenTo: 'other' }]]);
    expect(await teamSecrets.open(['MINE'], 'other')).toEqual(forbidden);
    expect((await teamSecrets.open(['MINE'], 'shop')).get('MINE')?.value?.text).toBe('value');
    expect(await teamSecrets.listNames('other')).toEqual(['OURS']);
    await teamSecrets.set('MINE', 'another value', 'other');
    expect(await teamSecrets.open(['MINE'], 'other')).toEqual(forbidden);
    await teamSecrets.share('MINE', before => [...(before ?? []), 'other']);
    expect((await teamSecrets.open(['MINE'], 'other')).get('MINE')?.value?.text).toBe('another value');
    expect((await teamSecrets.list()).map(({ factories }) => factories)).toEqual([['other', 'shop'], null]);
    await expect(teamSecrets.share('NONE', () => null)).rejects.toMatchObject({ code: 'secret-unknown' });
  });

  test('are neither removed nor withdrawn while the repository of a factory needs them', async () => {
    const { teamSecrets, appliedStates, reconcileStatuses } = openAt(makePlace());
    await teamSecrets.set('GIT_READ', 'value', 'shop');
    await appliedStates.change('shop', async state => ({ next: state, result: undefined }));
    const credential = { username: 'git', secretName: 'GIT_READ' };
    const followed = { repository: 'https://git.test/a.git', branch: 'main', path: '', credential };
    await reconcileStatuses.change('shop', status => ({ ...status, followed }));
    expect(await teamSecrets.list()).toMatchObject([{ usedBy: [{ factory: 'shop' }] }]);
    const inUse = { code: 'secret-in-use', message: /repository of the factory shop/ };
    await expect(teamSecrets.remove('GIT_READ')).rejects.toMatchObject(inUse);
    await expect(teamSecrets.share('GIT_READ', () => ['other'])).rejects.toMatchObject(inUse);
  });

  test('can be kept elsewhere: the value is read each time, and only another value has another version', async () => {
    const place = makePlace();
    const file = join(mkdtempSync(join(tmpdir(), 'secret-')), 'token');
    await openAt(place).teamSecrets.refer('TOKEN', `file:${file}`, ['shop']);
    const open = async () => (await openAt(place).teamSecrets.open(['TOKEN'], 'shop')).get('TOKEN');
    const message = `the team secret TOKEN cannot be read from file:${file}: the file cannot be read (ENOENT)`;
    expect(await open()).toEqual({ name: 'TOKEN', unresolved: { message, hint: expect.any(String) } });
    const versions: (string | undefined)[] = [];
    for (const text of ['one', 'one', 'another']) {
      writeFileSync(file, `${text}\n`);
      const secret = await open();
      expect(secret?.value?.text).toBe(text);
      versions.push(secret?.value?.version);
    }
    expect(versions[1]).toBe(versions[0]);
    expect(versions[2]).not.toBe(versions[0]);
    expect(await openAt(place).teamSecrets.open(['TOKEN'], 'other')).toEqual(
      new Map([['TOKEN', { name: 'TOKEN', forbiddenTo: 'other' }]]),
    );
  });

  test('can overlap with the value that webhooks have in force, until an end or another value', async () => {
    const store = openAt(makePlace(), { now: () => at });
    const { teamSecrets } = store;
    const read = async () => (await teamSecrets.open(['TOKEN'])).get('TOKEN');
    await teamSecrets.set('TOKEN', 'one');
    const { version = '' } = (await read())?.value ?? {};
    await addWebhook(store, 'pay', 'default', 'TOKEN');
    const refused = { code: 'secret-overlap' };
    await expect(teamSecrets.setOverlapping('TOKEN', 'two', 60_000)).rejects.toMatchObject(refused);
    const sha256 = 'a'.repeat(64);
    await store.appliedStates.change('default', async state => {
      const credential = { kind: 'digest' as const, secretVersion: version, sha256 };
      return {
        next: { ...state, webhooks: state.webhooks.map(webhook => ({ ...webhook, credential })) },
        result: undefined,
      };
    });
    await expect(teamSecrets.setOverlapping('TOKEN', 'one', 60_000)).rejects.toMatchObject(refused);
    const until = await teamSecrets.setOverlapping('TOKEN', 'two', 60_000);
    expect(until).toBe(new Date(at.getTime() + 60_000).toISOString());
    expect(await read()).toMatchObject({ value: { text: 'two' }, overlap: { version, until } });
    expect(await teamSecrets.list()).toMatchObject([{ name: 'TOKEN', previousUntil: until }]);
    await teamSecrets.share('TOKEN', () => ['default']);
    expect(await read()).toHaveProperty('overlap');
    expect([await teamSecrets.endOverlap('TOKEN'), await teamSecrets.endOverlap('TOKEN')]).toEqual([
      true,
      false,
    ]);
    expect(await read()).not.toHaveProperty('overlap');
    await teamSecrets.setOverlapping('TOKEN', 'three', 60_000);
    await teamSecrets.set('TOKEN', 'four');
    expect(await read()).not.toHaveProperty('overlap');
    await expect(teamSecrets.endOverlap('NONE')).rejects.toMatchObject({ code: 'secret-unknown' });
  });

  test('are a reference or a value, whichever was set last; a value is never taken for a reference', async () => {
    const { teamSecrets } = openAt(makePlace());
    const show = async () => (await teamSecrets.list()).map(({ state, from }) => [state, from]);
    await teamSecrets.refer('TOKEN', 'file:/run/secrets/token', null);
    expect(await show()).toEqual([['reference', 'file:/run/secrets/token']]);
    const before = await teamSecrets.list();
    await teamSecrets.refer('TOKEN', 'file:/run/secrets/token', null);
    expect(await teamSecrets.list()).toEqual(before);
    await teamSecrets.set('TOKEN', 'a-value');
    expect(await show()).toEqual([['set', undefined]]);
    const invalid = { code: 'secret-invalid' };
    await expect(teamSecrets.set('TOKEN', 'exec:true')).rejects.toMatchObject(invalid);
    await expect(teamSecrets.create('OTHER', 'env:VALUE')).rejects.toMatchObject(invalid);
    await expect(teamSecrets.refer('TOKEN', 'a-value', null)).rejects.toMatchObject(invalid);
    expect(await show()).toEqual([['set', undefined]]);
  });

  test('lose no change when two processes change them at the same time', async () => {
    const place = makePlace();
    const stores = [openAt(place), openAt(place)];
    const names = Array.from({ length: 10 }, (_, index) => `S${index}`);
    await Promise.all(names.map((name, index) => stores[index % 2]?.teamSecrets.set(name, 'value')));
    expect(await openAt(place).teamSecrets.listNames()).toEqual(names);
  });

  const credential = credentialOwner('default', 'wh_0123456789abcdefghijklmn');
  const others: readonly SealedFor[] = [
    { ...credential, factory: 'other' },
    { ...credential, name: 'wh_ponmlkjihgfedcba987654321' },
    { use: 'team-secret', name: credential.name },
  ];
  test('are sealed for one owner: the value opens for no other', async () => {
    const place = makePlace();
    const { seal } = openAt(place);
    const sealed = await seal.seal('the value', credential);
    expect(sealed).not.toContain('the value');
    expect(await openAt(place).seal.open(sealed, credential)).toBe('the value');
    for (const other of others) {
      await expect(seal.open(sealed, other)).rejects.toMatchObject({ code: 'key' });
    }
  });

  test('do not open with another key, and the message holds no value', async () => {
    const place = makePlace();
    await openAt(place).teamSecrets.set('TOKEN', 'the-value');
    const environment = { HOOKMILL_KEY: randomBytes(32).toString('base64') };
    const { teamSecrets } = openAt(place, { environment });
    const error: unknown = await teamSecrets.open(['TOKEN']).catch(error => error);
    expect(error).toMatchObject({ code: 'key', message: expect.stringContaining('TOKEN') });
    expect(String(error)).not.toContain('the-value');
    await teamSecrets.set('TOKEN', 'a new value');
    expect((await teamSecrets.open(['TOKEN'])).get('TOKEN')?.value?.text).toBe('a new value');
  });
}
