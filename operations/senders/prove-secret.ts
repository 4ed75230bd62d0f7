import type { AppliedState } from '../../schema/applied-state.ts';
import type { OpenFactory } from '../factory.ts';
import type { SentWebhook } from './open-sender.ts';

/** Finds the newest delivery that was verified, and the newest request that was not; undefined if there is none. */
export async function findNewest({ name: factory, store }: Pick<OpenFactory, 'name' | 'store'>, uid: string) {
  const last = async (outcome: 'Accepted' | 'Duplicate' | 'Rejected (auth)') =>
    (await store.deliveries.listDeliveries({ factory, uid, outcome, limit: 1 }))[0];
  const [accepted, duplicate, refused] = await Promise.all([
    last('Accepted'),
    last('Duplicate'),
    last('Rejected (auth)'),
  ]);
  const verified = (accepted?.atMs ?? 0) < (duplicate?.atMs ?? 0) ? duplicate : accepted;
  return { verified, refused };
}

/**
 * Whether deliveries prove that the provider has the current secret: the newest one was verified, not with a previous value,
 * and the applied state has not changed since. Providers do not show secrets, and an apply may have put another value in force.
 */
export async function isSecretProven(
  factory: Pick<OpenFactory, 'name' | 'store'>,
  { appliedAt }: Pick<AppliedState, 'appliedAt'>,
  { uid }: Pick<SentWebhook, 'uid'>,
): Promise<boolean> {
  const { verified, refused } = await findNewest(factory, uid);
  return (
    verified !== undefined && verified.atMs > (refused?.atMs ?? 0) && verified.atMs > Date.parse(appliedAt)
  );
}
