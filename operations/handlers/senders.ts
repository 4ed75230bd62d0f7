import { requireWebhook } from '../applied/require-applied.ts';
import { checkSender, listSenders } from '../senders/check-sender.ts';
import { listMissed } from '../senders/list-missed.ts';
import { requireSender, type SenderDeps } from '../senders/open-sender.ts';
import { redeliverMissed } from '../senders/redeliver-missed.ts';
import { type Handlers, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests about the hooks of webhooks at their providers. */
export const senderHandlers: Pick<
  Handlers,
  'listSenders' | 'checkSender' | 'listMissed' | 'redeliverMissed'
> = {
  listSenders: async (deps, { params: { factory } }) => ({
    body: { senders: await listSenders(toSenderDeps(deps, factory)) },
  }),
  checkSender: async (deps, { params: { factory, uid } }) => {
    const given = toSenderDeps(deps, factory);
    const webhook = requireSender(requireWebhook(await given.factory.readState(), uid));
    return { body: await checkSender(given, webhook) };
  },
  listMissed: async (deps, { params: { factory, uid }, body }) => {
    const given = toSenderDeps(deps, factory);
    const webhook = requireSender(requireWebhook(await given.factory.readState(), uid));
    return { body: await listMissed(given, webhook, body) };
  },
  redeliverMissed: async (deps, { params: { factory, uid }, body }) => {
    const given = toSenderDeps(deps, factory);
    const webhook = requireSender(requireWebhook(await given.factory.readState(), uid));
    const answer = await redeliverMissed(given, webhook, body);
    const asked = answer.events.filter(({ result }) => result === 'asked').length;
    return { body: answer, changed: `${webhook.name} (${asked} ${asked === 1 ? 'event' : 'events'})` };
  },
};

function toSenderDeps(deps: OperationDeps, factory: string): SenderDeps {
  const { baseUrl, waitOutside } = deps;
  return { factory: openFactory(deps, factory), baseUrl, waitOutside };
}
