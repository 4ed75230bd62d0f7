import { requireWebhook } from '../applied/require-applied.ts';
import { checkSender, listSenders } from '../senders/check-sender.ts';
import { listMissed } from '../senders/list-missed.ts';
import { requireSender, type SenderDeps, type SentWebhook } from '../senders/open-sender.ts';
import { redeliverMissed } from '../senders/redeliver-missed.ts';
import { planSender, registerSender } from '../senders/register-sender.ts';
import { sendTest } from '../sending/send-test.ts';
import { type HandlersOf, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests for the hooks of webhooks at their providers, and for tests that are sent as they would. */
export const senderHandlers: HandlersOf<'senders'> = {
  listSenders: async (deps, { params: { factory } }) => ({
    body: { senders: await listSenders(toSenderDeps(deps, factory)) },
  }),
  checkSender: async (deps, { params: { factory, uid } }) => {
    const given = toSenderDeps(deps, factory);
    return { body: await checkSender(given, await findSentWebhook(given, uid)) };
  },
  planSender: async (deps, { params: { factory, uid }, body }) => {
    const given = toSenderDeps(deps, factory);
    return { body: await planSender(given, await findSentWebhook(given, uid), body), changed: null };
  },
  registerSender: async (deps, { params: { factory, uid }, body }) => {
    const given = { ...toSenderDeps(deps, factory), by: deps.by };
    const registered = await registerSender(given, await findSentWebhook(given, uid), body);
    const { at, hook } = registered;
    return { body: registered, changed: `${uid} ${at} hook ${hook.id}` };
  },
  listMissed: async (deps, { params: { factory, uid }, body }) => {
    const given = toSenderDeps(deps, factory);
    return { body: await listMissed(given, await findSentWebhook(given, uid), body) };
  },
  redeliverMissed: async (deps, { params: { factory, uid }, body }) => {
    const given = toSenderDeps(deps, factory);
    const webhook = await findSentWebhook(given, uid);
    const answer = await redeliverMissed(given, webhook, body);
    const asked = answer.events.filter(({ result }) => result === 'asked').length;
    return { body: answer, changed: `${webhook.name} (${asked} ${asked === 1 ? 'event' : 'events'})` };
  },
  sendTest: async (deps, { params: { factory: name, uid }, body }) => {
    const factory = openFactory(deps, name);
    const webhook = requireWebhook(await factory.readState(), uid);
    const answer = await sendTest({ ...deps, factory }, webhook, body);
    return { body: answer, changed: `${webhook.name}: ${answer.outcome ?? answer.status}` };
  },
};

async function findSentWebhook({ factory }: SenderDeps, uid: string): Promise<SentWebhook> {
  return requireSender(requireWebhook(await factory.readState(), uid));
}

function toSenderDeps(deps: OperationDeps, factory: string): SenderDeps {
  const { baseUrl, waitOutside } = deps;
  return { factory: openFactory(deps, factory), baseUrl, waitOutside };
}
