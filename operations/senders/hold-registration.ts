import { Refusal } from '../../schema/refusal.ts';
import type { SenderState } from '../../schema/sender.ts';
import type { SenderDeps } from './open-sender.ts';

/** @limit Time after which another registration of a webhook may begin although one has not ended, in ms: its process was killed. It is longer than a provider may take to answer. */
const registeringMsMax = 60_000;

/**
 * Does the work while no other registration of the webhook is in progress, in whichever process or replica. Fails with
 * `sender-busy`. Marks it in the store, which is the change that the audit log records.
 */
export async function holdRegistration<T>(
  { factory: { name, store, now }, by }: SenderDeps & { readonly by: string },
  uid: string,
  work: () => Promise<T>,
): Promise<T> {
  const { senderStates } = store;
  const at = now().toISOString();
  const state = (await senderStates.read(name)).find(state => state.uid === uid);
  // Looks first, so that what is refused is no change.
  if (state) requireFree(state, now());
  await senderStates.act(name, uid, state => {
    requireFree(state, now());
    return { ...state, registering: { at, by } };
  });
  const end = (state: SenderState) =>
    state.registering?.at === at ? { ...state, registering: null } : state;
  try {
    return await work();
  } finally {
    // If this fails, the registration expires.
    await senderStates.learn(name, uid, end).catch(() => undefined);
  }
}

function requireFree({ registering }: SenderState, now: Date): void {
  if (!registering) return;
  const endMs = Date.parse(registering.at) + registeringMsMax;
  if (now.getTime() >= endMs) return;
  const { at, by } = registering;
  const end = new Date(endMs).toISOString();
  const detail = `another registration of this webhook began at ${at}, by ${by}; try again when it has ended, at ${end} at the latest`;
  throw new Refusal('sender-busy', { detail });
}
