import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type MakePlace, openAt } from './place.ts';

/** For a store that only one daemon may serve. */
export function testOneDaemon(makePlace: MakePlace): void {
  test('one daemon claims the store: a second one is refused until the first releases it', async () => {
    const place = makePlace();
    const [first, second] = [openAt(place), openAt(place)];
    const claim = await first.claimDaemon();
    await expect(second.claimDaemon()).rejects.toMatchObject({ code: 'locked' });
    await claim.release();
    await (await second.claimDaemon()).release();
  });
}

/** For a store that any number of daemons may serve. */
export function testReplicas(makePlace: MakePlace): void {
  test('several daemons claim the store', async () => {
    const place = makePlace();
    const claims = [await openAt(place).claimDaemon(), await openAt(place).claimDaemon()];
    for (const claim of claims) await claim.release();
  });
}

export function testClaims(makePlace: MakePlace): void {
  test('a claimed store is still open to commands', async () => {
    const place = makePlace();
    const claim = await openAt(place).claimDaemon();
    const command = openAt(place, { lockTimeoutMs: 0 });
    await command.teamSecrets.set('TOKEN', 'value');
    const log = await command.openDeliveryLog();
    await log.close();
    await claim.release();
  });

  test('a mirror is a private directory that one process uses at a time, and that stays', async () => {
    const place = makePlace();
    const [one, other] = [openAt(place), openAt(place, { lockTimeoutMs: 0 })];
    const result = await one.mirrors.use('default', async directory => {
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
      await writeFile(join(directory, 'HEAD'), '');
      const refused = other.mirrors.use('default', async () => 'used');
      await expect(refused).rejects.toMatchObject({ code: 'locked' });
      return other.mirrors.use('another', async () => 'used');
    });
    expect(result).toBe('used');
    expect(await other.mirrors.use('default', directory => readdir(directory))).toContain('HEAD');
  });

  test('the daemon address is unknown until a daemon records it, then the last one', async () => {
    const place = makePlace();
    const { daemonAddress } = openAt(place);
    expect(await daemonAddress.read()).toBeUndefined();
    const urls = { ingressUrl: 'http://127.0.0.1:8080', managementUrl: 'http://127.0.0.1:8081' };
    const first = { ...urls, id: 'a', trustsProxies: false };
    const second = { ...first, ingressUrl: 'https://hooks.example', id: 'b' };
    for (const daemon of [first, second]) await daemonAddress.record(daemon);
    expect(await openAt(place).daemonAddress.read()).toEqual(second);
  });

  test('a closed store answers no more queries, and can be closed again', async () => {
    const place = makePlace();
    const store = place.open();
    const filter = { factory: 'default', limit: 1 };
    expect(await store.deliveries.listDeliveries(filter)).toEqual([]);
    await store.close();
    await expect(store.deliveries.listDeliveries(filter)).rejects.toMatchObject({ code: 'closed' });
    await store.close();
    await place.open().close();
  });
}
