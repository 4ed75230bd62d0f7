import type { WebhookChange } from '../../schema/api/requests.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import {
  beginSecretRotation,
  changeWebhook,
  changeWebhookSecret,
  createWebhook,
  deleteWebhook,
  endSecretRotation,
  listWebhooks,
  type ManagedWebhook,
  showWebhook,
} from '../applied/webhooks.ts';
import { webhookDetail } from '../views/applied-views.ts';
import { type HandlersOf, showState } from './handler.ts';

/** Handles requests for the webhooks of a factory, and their secrets. */
export const webhookHandlers: HandlersOf<'webhooks'> = {
  listWebhooks: async deps => showState(await listWebhooks(deps.factory, deps.baseUrl)),
  createWebhook: async (deps, { body, ifSerial }) => {
    const change = createWebhook({ ...deps.factory, ifSerial }, body);
    const { state, result } = await change;
    return { body: toManaged(deps.baseUrl, state, result), serial: state.serial, changed: body.name };
  },
  showWebhook: async (deps, { params: { uid } }) =>
    showState(await showWebhook(deps.factory, uid, deps.baseUrl)),
  changeWebhook: async (deps, { params: { uid }, body, ifSerial }) => {
    const change = changeWebhook({ ...deps.factory, ifSerial }, uid, body, deps.baseUrl);
    const { state, result } = await change;
    const changed = describeChange(uid, body, result);
    return { body: webhookDetail(state, result, deps.baseUrl), serial: state.serial, changed };
  },
  deleteWebhook: async ({ factory }, { params: { uid }, ifSerial }) => {
    const change = deleteWebhook({ ...factory, ifSerial }, uid);
    const { state, result } = await change;
    return { body: undefined, serial: state.serial, changed: `${result.name} (${uid})` };
  },
  changeWebhookSecret: async (deps, { params: { uid }, body, ifSerial }) => {
    const change = changeWebhookSecret({ ...deps.factory, ifSerial }, uid, body.value);
    const { state, result } = await change;
    const changed = `${result.webhook.name} (${uid})`;
    return { body: toManaged(deps.baseUrl, state, result), serial: state.serial, changed };
  },
  beginSecretRotation: async ({ factory }, { params: { uid }, ifSerial }) => {
    const { state, result } = await beginSecretRotation({ ...factory, ifSerial }, uid);
    const { webhook, until, isContinued } = result;
    const { serial } = state;
    const body = { webhook: webhook.name, secretName: webhook.secretName, serial, until, isContinued };
    const changed = isContinued ? null : `${webhook.name} (${uid}): previous value until ${until}`;
    return { body, serial, changed };
  },
  endSecretRotation: async ({ factory }, { params: { uid }, ifSerial }) => {
    const { serial } = await endSecretRotation({ ...factory, ifSerial }, uid);
    return showState({ serial });
  },
};

function toManaged(baseUrl: string, state: AppliedState, { webhook, generated }: ManagedWebhook) {
  const detail = webhookDetail(state, webhook, baseUrl);
  return { webhook: detail, revealed: generated === undefined ? null : reveal(detail.url, generated) };
}

/** Returns a generated secret in the form that the sender needs: a URL or a value. */
function reveal(url: string, generated: string) {
  return url.includes('{token}') ? { url: url.replace('{token}', generated) } : { secret: generated };
}

function describeChange(uid: string, { name, enabled }: WebhookChange, webhook: { readonly name: string }) {
  const states = enabled === undefined ? [] : [enabled ? 'enabled' : 'disabled'];
  const names = name === undefined ? [] : ['renamed'];
  return `${webhook.name} (${uid}): ${[...names, ...states].join(', ')}`;
}
