import { expect, onTestFinished, test } from 'vitest';
import { explainWhy } from '../../../operations/why/why.ts';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { acceptedDelivery, rejectedDelivery } from '../../support/deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { factoryIn } from '../../support/stored.ts';

const hourMs = 3_600_000;
const { uid, webhook: name } = acceptedDelivery();

test('says that a sender has been silent for unusually long, unless it was only rejected', async () => {
  const factory = factoryIn(newHome());
  const log = await factory.store.openDeliveryLog();
  onTestFinished(async () => {
    await log.close();
    await factory.store.close();
  });
  const lastMs = Date.now() - 6 * hourMs;
  const hours = Array.from({ length: 21 * 24 }, (_, index) => lastMs - index * hourMs).reverse();
  await Promise.all(hours.map(atMs => log.recordAccepted(acceptedDelivery({ atMs }))));
  await log.recordTallies(await factory.store.deliveries.readNextTallies());
  const credential = { kind: 'digest', secretVersion: 'v', sha256: '' } as const;
  const webhook = { name, uid, secretName: 'A', authMode: 'token', enabled: true, credential } as const;
  const readState = async () => ({ ...emptyAppliedState('default'), webhooks: [webhook] });
  const explain = async () => {
    const given = { baseUrl: 'http://h', permission: 'manage', daemonProblem: null } as const;
    const { cause, steps } = await explainWhy({ ...factory, readState }, name, given);
    return { cause, sender: steps.find(({ step }) => step === 'sender') };
  };
  expect(await explain()).toEqual({
    cause: 'sender',
    sender: expect.objectContaining({
      message: 'no delivery for 6 hours; 60 minutes are usual at most at this time',
      remedy: expect.stringContaining(`posts to http://h/webhooks/w/${uid}`),
    }),
  });
  const rejected = rejectedDelivery({ atMs: Date.now() });
  log.recordUnidentified(rejected);
  await eventually(() => factory.store.deliveries.findDelivery(rejected.id));
  expect(await explain()).toMatchObject({ cause: 'authentication', sender: { state: 'ok' } });
});
