import { findPrevious } from '../../schema/applied-state.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import { withoutPrevious } from '../access/credential.ts';
import type { Factory } from '../factory.ts';
import { changeFactory } from './change-factory.ts';

/**
 * Ends the overlap of a team secret at once: removes the previous credential of each webhook that uses it, in all factories
 * and without an apply. Returns the names of these webhooks, each after its factory. Fails with `secret-unknown`, or with
 * `secret-overlap` if there is nothing to end.
 */
export async function endOverlap(
  deps: Pick<Factory, 'store' | 'now' | 'randomBytes'>,
  secretName: string,
): Promise<readonly string[]> {
  const { teamSecrets, appliedStates } = deps.store;
  // First, so that no apply that begins now makes another previous credential.
  const wasSet = await teamSecrets.endOverlap(secretName);
  const ended: string[] = [];
  const failures: unknown[] = [];
  for (const name of await appliedStates.listFactories()) {
    // A factory that cannot be changed keeps no other one from it: the previous value may have leaked.
    await endInFactory({ ...deps, name }, secretName).then(
      webhooks => ended.push(...webhooks),
      error => failures.push(error),
    );
  }
  if (failures.length > 0) throw failures[0];
  if (!wasSet && ended.length === 0) {
    throw new StoreError('secret-overlap', `no previous value of the team secret ${secretName} is kept`);
  }
  return ended;
}

async function endInFactory(factory: Factory, secretName: string): Promise<readonly string[]> {
  const { result } = await changeFactory(factory, async ({ webhooks }) => {
    const ending = webhooks.filter(webhook => webhook.secretName === secretName && findPrevious(webhook));
    const next = webhooks.map(webhook => (ending.includes(webhook) ? withoutPrevious(webhook) : webhook));
    return { next: { webhooks: next }, result: ending.map(({ name }) => `${factory.name}/${name}`) };
  });
  return result;
}
