import { expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { type MakePlace, openAt } from './place.ts';

const session = { ownerSha256: 'a'.repeat(64), host: 'hooks.example', from: '203.0.113.7' };
const idleMs = 60_000;
const bounds = { lifetimeMs: 60_000, perOwnerMax: 2 };

export function testSessions(makePlace: MakePlace): void {
  test('are found until they are removed, by later processes too', async () => {
    const place = makePlace();
    const { sessions } = openAt(place);
    expect(await sessions.find('one', idleMs)).toBeUndefined();
    await sessions.keep('one', session, bounds);
    expect(await sessions.find('one', idleMs)).toMatchObject(session);
    expect(await sessions.find('other', idleMs)).toBeUndefined();
    const later = openAt(place).sessions;
    expect(await later.find('one', idleMs)).toMatchObject(session);
    await later.remove('one');
    await later.remove('one');
    expect(await later.find('one', idleMs)).toBeUndefined();
    expect(await openAt(place).sessions.find('one', idleMs)).toBeUndefined();
  });

  test('remember who signed in', async () => {
    const place = makePlace();
    const person = { issuer: 'https://login.example', subject: '1', name: 'Ada "é"', groups: ['a', 'b'] };
    await openAt(place).sessions.keep('one', { ...session, person }, bounds);
    expect(await openAt(place).sessions.find('one', idleMs)).toMatchObject({ ...session, person });
  });

  test('expire', async () => {
    const { sessions } = openAt(makePlace());
    await sessions.keep('one', session, { ...bounds, lifetimeMs: 0 });
    expect(await sessions.find('one', idleMs)).toBeUndefined();
  });

  test('end when nobody uses them, and not when somebody does', async () => {
    const { sessions } = openAt(makePlace());
    for (const digest of ['one', 'two']) await sessions.keep(digest, session, bounds);
    const idleFor = async (digest: string) => (await sessions.find(digest, idleMs))?.idleForMs ?? Infinity;
    await eventually(async () => (await idleFor('one')) >= 2 && (await idleFor('two')) >= 2);
    await sessions.recordUse('two');
    // In this order, so that however long the answers take, the one that is used is not asked later.
    const two = await idleFor('two');
    const one = await idleFor('one');
    expect(two).toBeLessThan(one);
    expect(await sessions.find('one', one)).toBeUndefined();
    expect(await sessions.find('two', 0)).toBeUndefined();
    expect(await sessions.list(0)).toEqual([]);
  });

  test('are listed, the newest first, with when they began and were used, and until when they last', async () => {
    const place = makePlace();
    const { sessions } = openAt(place);
    await sessions.keep('one', session, bounds);
    await eventually(async () => ((await sessions.find('one', idleMs))?.idleForMs ?? 0) >= 2);
    await sessions.keep('two', session, bounds);
    const listed = await openAt(place).sessions.list(idleMs);
    expect(listed).toMatchObject([
      { ...session, digest: 'two' },
      { ...session, digest: 'one' },
    ]);
    for (const { beganAt, usedAt, until } of listed) {
      expect(Date.parse(until) - Date.parse(beganAt)).toBe(bounds.lifetimeMs);
      expect(usedAt).toBe(beganAt);
    }
  });

  test('of one token end when it has too many, the oldest first', async () => {
    const { sessions } = openAt(makePlace());
    await sessions.keep('other', { ...session, ownerSha256: 'b'.repeat(64) }, bounds);
    for (const digest of ['one', 'two', 'three']) await sessions.keep(digest, session, bounds);
    const found = await Promise.all(
      ['one', 'two', 'three', 'other'].map(digest => sessions.find(digest, idleMs)),
    );
    expect(found.map(session => session !== undefined)).toEqual([false, true, true, true]);
  });
}
