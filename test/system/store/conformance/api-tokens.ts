import { expect, test } from 'vitest';
import { digestToken } from '../../../../store/ports/api-tokens.ts';
import { type MakePlace, openAt } from './place.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const makeToken = (name: string) => ({
  name,
  factory: null,
  permission: 'read' as const,
  sha256: digestToken(`hmk_${name}`),
});

export function testApiTokens(makePlace: MakePlace): void {
  test('are found by their digests, in every process', async () => {
    const place = makePlace();
    const [one, other] = [openAt(place, { now: () => at }), openAt(place)];
    expect(await other.apiTokens.find(makeToken('ci').sha256)).toBeUndefined();
    const tokens = [
      makeToken('ci'),
      { ...makeToken('Ops_1.x'), factory: 'crm', permission: 'manage' as const, expiresAt: at.toISOString() },
    ];
    for (const token of tokens) await one.apiTokens.create(token);
    const stored = tokens.map(token => ({
      expiresAt: null,
      ...token,
      createdAt: at.toISOString(),
      lastUsedAt: null,
    }));
    expect(await other.apiTokens.list()).toEqual(stored);
    for (const token of stored) expect(await other.apiTokens.find(token.sha256)).toEqual(token);
  });

  test('are unknown at once when another process revokes them', async () => {
    const place = makePlace();
    const [one, other] = [openAt(place), openAt(place)];
    const { sha256 } = makeToken('ci');
    await one.apiTokens.create(makeToken('ci'));
    expect(await other.apiTokens.find(sha256)).toBeDefined();
    await one.apiTokens.revoke(sha256);
    expect(await other.apiTokens.find(sha256)).toBeUndefined();
    expect(await other.apiTokens.wasRevoked(sha256)).toBe(true);
    expect(await other.apiTokens.wasRevoked('0'.repeat(64))).toBe(false);
    await expect(one.apiTokens.revoke(sha256)).rejects.toMatchObject({ code: 'token-unknown' });
    await one.apiTokens.create(makeToken('ci'));
    expect(await other.apiTokens.find(sha256)).toBeDefined();
  });

  test('have names for each factory', async () => {
    const { apiTokens } = openAt(makePlace());
    const make = (name: string, factory: string | null) =>
      apiTokens.create({ ...makeToken(name), factory, sha256: digestToken(`${factory} ${name}`) });
    await make('ci', 'crm');
    await make('ci', 'shop');
    await make('ci', null);
    await expect(make('ci', 'crm')).rejects.toMatchObject({ code: 'token-taken' });
  });

  test('have unique names of 1–63 characters', async () => {
    const { apiTokens } = openAt(makePlace());
    await apiTokens.create(makeToken('a'.repeat(63)));
    const again = apiTokens.create({ ...makeToken('other'), name: 'a'.repeat(63) });
    await expect(again).rejects.toMatchObject({ code: 'token-taken' });
    for (const name of ['', '-a', 'a b', 'a'.repeat(64)]) {
      await expect(apiTokens.create(makeToken(name))).rejects.toMatchObject({ code: 'token-invalid' });
    }
    expect(await apiTokens.list()).toHaveLength(1);
  });

  test('remember when they were last used, unless they are gone', async () => {
    const { apiTokens } = openAt(makePlace());
    const { sha256 } = makeToken('ci');
    await apiTokens.create(makeToken('ci'));
    await apiTokens.recordUses(new Map([[sha256, at]]));
    expect(await apiTokens.find(sha256)).toMatchObject({ lastUsedAt: at.toISOString() });
    await apiTokens.revoke(sha256);
    await apiTokens.recordUses(new Map([[sha256, at]]));
    expect(await apiTokens.list()).toEqual([]);
  });
}
