import { requireWebhook } from '../applied/require-applied.ts';
import { checkSender, listSenders } from '../senders/check-sender.ts';
import { requireSender, type SenderDeps } from '../senders/open-sender.ts';
import { type Handlers, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests about the hooks of webhooks at their providers. */
export const senderHandlers: Pick<Handlers, 'listSenders' | 'checkSender'> = {
  listSenders: async (deps, { params: { factory } }) => ({
    body: { senders: await listSenders(toSenderDeps(deps, factory)) },
  }),
  checkSender: async (deps, { params: { factory, uid } }) => {
    const given = toSenderDeps(deps, factory);
    const webhook = requireSender(requireWebhook(await given.factory.readState(), uid));
    return { body: await checkSender(given, webhook) };
  },
};

function toSenderDeps(deps: OperationDeps, factory: string): SenderDeps {
  const { baseUrl, waitOutside } = deps;
  return { factory: openFactory(deps, factory), baseUrl, waitOutside };
}
