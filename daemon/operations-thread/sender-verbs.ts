import { randomBytes } from 'node:crypto';
import { withSecretsRead } from '../../operations/access/secrets.ts';
import { requireWebhook } from '../../operations/applied/require-applied.ts';
import type { Recovered, Watched } from '../../operations/senders/asked-events.ts';
import { requireSender, type SenderDeps, type SentWebhook } from '../../operations/senders/open-sender.ts';
import { redeliverMissed } from '../../operations/senders/redeliver-missed.ts';
import { keepRecoveryProblem, watchSender } from '../../operations/senders/watch-sender.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { AppliedStates, Store } from '../../store/ports/store.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import type { RecoverArgument, SenderArgument } from './wire.ts';

export interface SenderVerbsOptions {
  readonly store: Store;
  readonly readServedState: AppliedStates['read'];
}

/** Creates the tasks of the operations thread for webhooks with a sender. While one waits for a provider, others run. */
export function createSenderVerbs(options: SenderVerbsOptions) {
  const open = async (argument: SenderArgument, readOutside: ReadOutside) => {
    const deps = createDeps(options, argument, readOutside);
    const webhook = requireSender(requireWebhook(await deps.factory.readState(), argument.uid));
    return { deps, webhook };
  };
  return {
    watchSender: async (argument: SenderArgument, readOutside: ReadOutside): Promise<Watched> => {
      const { deps, webhook } = await open(argument, readOutside);
      return watchSender(deps, webhook);
    },
    recoverMissed: async (
      argument: RecoverArgument,
      readOutside: ReadOutside,
      beforeChange: () => Promise<void>,
    ): Promise<Recovered> => {
      await beforeChange();
      const { deps, webhook } = await open(argument, readOutside);
      return recover(deps, webhook, argument);
    },
  };
}

async function recover(
  deps: SenderDeps,
  webhook: SentWebhook,
  { request, uid }: RecoverArgument,
): Promise<Recovered> {
  // Somebody may have removed `recover` since the events were found.
  if (!webhook.sender.recover) return { events: [], nextInMs: null };
  try {
    const recovered = await redeliverMissed(deps, webhook, request, true);
    if (recovered.events.some(({ result }) => result === 'asked')) await keepRecoveryProblem(deps, uid, null);
    return recovered;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'sender-failed') throw error;
    await keepRecoveryProblem(deps, uid, error.message);
    return { problem: error.message };
  }
}

function createDeps(
  { store, readServedState }: SenderVerbsOptions,
  { factory, baseUrl, nowMs }: SenderArgument,
  waitOutside: ReadOutside,
): SenderDeps {
  return {
    factory: {
      ...{ name: factory, store: withSecretsRead(store, waitOutside) },
      ...{ now: () => new Date(nowMs), randomBytes, readState: () => readServedState(factory) },
      useDeliveryLog: () => Promise.reject(new Error('a look at a sender writes no deliveries')),
    },
    ...{ ownBaseUrl: baseUrl, waitOutside },
  };
}
