import { requireWebhook } from '../applied/require-applied.ts';
import { checkSender, listSenders } from '../senders/check-sender.ts';
import { listMissed } from '../senders/list-missed.ts';
import { requireSender, type SenderDeps, type SentWebhook } from '../senders/open-sender.ts';
import { redeliverMissed } from '../senders/redeliver-missed.ts';
import { planSender, registerSender } from '../senders/register-sender.ts';
import { sendTest } from '../sending/send-test.ts';
import type { HandlersOf } from './handler.ts';

/** Handles requests for the hooks of webhooks at their providers, and for tests that are sent as they would. */
export const senderHandlers: HandlersOf<'senders'> = {
  listSenders: async deps => ({ body: { senders: await listSenders(deps) } }),
  checkSender: async (deps, { params: { uid } }) => ({
    body: await checkSender(deps, await findSentWebhook(deps, uid)),
  }),
  planSender: async (deps, { params: { uid }, body }) => ({
    body: await planSender(deps, await findSentWebhook(deps, uid), body),
    changed: null,
  }),
  registerSender: async (deps, { params: { uid }, body }) => {
    const registered = await registerSender(deps, await findSentWebhook(deps, uid), body);
    const { at, hook } = registered;
    return { body: registered, changed: `${uid} ${at} hook ${hook.id}` };
  },
  listMissed: async (deps, { params: { uid }, body }) => ({
    body: await listMissed(deps, await findSentWebhook(deps, uid), body),
  }),
  redeliverMissed: async (deps, { params: { uid }, body }) => {
    const webhook = await findSentWebhook(deps, uid);
    const answer = await redeliverMissed(deps, webhook, body);
    const asked = answer.events.filter(({ result }) => result === 'asked').length;
    return { body: answer, changed: `${webhook.name} (${asked} ${asked === 1 ? 'event' : 'events'})` };
  },
  sendTest: async (deps, { params: { uid }, body }) => {
    const webhook = requireWebhook(await deps.factory.readState(), uid);
    const answer = await sendTest(deps, webhook, body);
    return { body: answer, changed: `${webhook.name}: ${answer.outcome ?? answer.status}` };
  },
};

async function findSentWebhook({ factory }: SenderDeps, uid: string): Promise<SentWebhook> {
  return requireSender(requireWebhook(await factory.readState(), uid));
}
