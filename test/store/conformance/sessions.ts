import { expect, test } from 'vitest';
import { type MakePlace, openAt } from './place.ts';

const session = { ownerSha256: 'a'.repeat(64), host: 'hooks.example' };
const bounds = { lifetimeMs: 60_000, perOwnerMax: 2 };

export function testSessions(makePlace: MakePlace): void {
  test('are found until they are removed, by later processes too', async () => {
    const place = makePlace();
    const { sessions } = openAt(place);
    expect(await sessions.find('one')).toBeUndefined();
    await sessions.keep('one', session, bounds);
    expect(await sessions.find('one')).toMatchObject(session);
    expect(await sessions.find('other')).toBeUndefined();
    const later = openAt(place).sessions;
    expect(await later.find('one')).toMatchObject(session);
    await later.remove('one');
    await later.remove('one');
    expect(await later.find('one')).toBeUndefined();
    expect(await openAt(place).sessions.find('one')).toBeUndefined();
  });

  test('remember who signed in', async () => {
    const place = makePlace();
    const person = { issuer: 'https://login.example', subject: '1', name: 'Ada "é"', groups: ['a', 'b'] };
    await openAt(place).sessions.keep('one', { ...session, person }, bounds);
    expect(await openAt(place).sessions.find('one')).toEqual({ ...session, person });
  });

  test('expire', async () => {
    const { sessions } = openAt(makePlace());
    await sessions.keep('one', session, { ...bounds, lifetimeMs: 0 });
    expect(await sessions.find('one')).toBeUndefined();
  });

  test('of one token end when it has too many, the oldest first', async () => {
    const { sessions } = openAt(makePlace());
    await sessions.keep('other', { ...session, ownerSha256: 'b'.repeat(64) }, bounds);
    for (const digest of ['one', 'two', 'three']) await sessions.keep(digest, session, bounds);
    const found = await Promise.all(['one', 'two', 'three', 'other'].map(sessions.find));
    expect(found.map(session => session !== undefined)).toEqual([false, true, true, true]);
  });
}
