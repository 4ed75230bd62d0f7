import { expect, test } from 'vitest';
import { appliedStateDocument } from '../../../../store/documents/applied-states.ts';
import { secretsDocument } from '../../../../store/documents/team-secrets.ts';
import type { Store } from '../../../../store/ports/store.ts';
import type { TransferSource } from '../../../../store/ports/transfer.ts';
import { acceptedDelivery } from '../../../support/deliveries.ts';
import { type MakePlace, openAt, openLog } from './place.ts';

export function testSnapshot(makePlace: MakePlace): void {
  test('has what was there when it was opened, also while a daemon changes it', async () => {
    const place = makePlace();
    const store = openAt(place);
    const claim = await store.claimDaemon();
    const log = await openLog(store);
    await log.claimRuns({ daemonId: 'daemon one', nowMs: Date.now(), places: { default: 1 } });
    const before = acceptedDelivery();
    await log.recordAccepted(before);
    await store.teamSecrets.create('ONE', 'value');
    await useSecret(store, 'ONE');
    const snapshot = await openAt(place).openSnapshot();
    await log.recordAccepted(acceptedDelivery());
    await log.recordAccepted(acceptedDelivery({ factory: 'later' }));
    await store.teamSecrets.create('TWO', 'value');
    await useSecret(store, 'TWO');
    expect((await snapshot.deliveries.read('default', 0)).map(({ id }) => id)).toEqual([before.id]);
    expect(await snapshot.listLoggedFactories()).toEqual(['default']);
    expect(await snapshot.countIdentities()).toBe(1);
    expect(await snapshot.readSnapshot('digest one')).toBe('{"automations":[]}');
    expect(await readSecrets(snapshot)).toEqual({ names: ['ONE'], used: 'ONE' });
    await snapshot.close();
    await log.close();
    await claim.release();
  });
}

/** Applies a webhook that uses the team secret. */
async function useSecret({ appliedStates }: Store, secretName: string): Promise<void> {
  const webhook = {
    ...{ name: 'pay', uid: 'wh_000000000000000000000pay', authMode: 'token' as const, secretName },
    ...{ enabled: true, credential: { kind: 'unset' as const } },
  };
  await appliedStates.change('default', async state => ({
    next: { ...state, webhooks: [webhook] },
    result: undefined,
  }));
}

async function readSecrets({ documents }: TransferSource) {
  const { secrets } = await documents.read(secretsDocument);
  const { webhooks } = await documents.read(appliedStateDocument('default'));
  return { names: secrets.map(({ name }) => name), used: webhooks[0]?.secretName };
}
