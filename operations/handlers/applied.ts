import type { WebhookChange } from '../../schema/api/requests.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { isOfferedTo } from '../../store/ports/daemon-records.ts';
import { listFactorySecrets } from '../access/secrets.ts';
import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  replaceAutomation,
  showAutomation,
} from '../applied/automations.ts';
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
import { showStatus } from '../attention/status.ts';
import { requestReconcile, suspendReconcile } from '../branch/reconcile.ts';
import { automationDetail, webhookDetail } from '../views/applied-views.ts';
import { type Handlers, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests for a factory's applied state. */
export const appliedHandlers: Pick<
  Handlers,
  | ('showStatus' | 'requestReconcile' | 'suspendReconcile' | 'resumeReconcile')
  | ('listSecrets' | 'listRunners')
  | (
      | 'listWebhooks'
      | 'createWebhook'
      | 'showWebhook'
      | 'changeWebhook'
      | 'changeWebhookSecret'
      | 'beginSecretRotation'
      | 'endSecretRotation'
      | 'deleteWebhook'
    )
  | ('listAutomations' | 'createAutomation' | 'showAutomation' | 'replaceAutomation' | 'deleteAutomation')
> = {
  showStatus: async (deps, { params: { factory }, permission }) => {
    const status = await showStatus(openFactory(deps, factory), permission, deps.problem);
    return { body: { ...status, permission }, serial: status.serial };
  },
  requestReconcile: async (deps, { params: { factory } }) => ({
    body: { askedAt: await requestReconcile(openFactory(deps, factory)) },
  }),
  suspendReconcile: (deps, { params: { factory } }) => setSuspended(deps, factory, true),
  resumeReconcile: (deps, { params: { factory } }) => setSuspended(deps, factory, false),
  listSecrets: async (deps, { params: { factory }, permission }) => ({
    body: { secrets: await listFactorySecrets(openFactory(deps, factory), permission) },
  }),
  listRunners: async ({ store }, { params: { factory } }) => {
    const offered = await store.offeredRunners.read();
    const own = offered.filter(runner => isOfferedTo(runner, factory));
    // The globs of factories would tell their names.
    return { body: { runners: own.map(({ factories: _, ...runner }) => runner) } };
  },

  listWebhooks: async (deps, { params: { factory } }) => {
    const body = await listWebhooks(openFactory(deps, factory), deps.baseUrl);
    return { body, serial: body.serial };
  },
  createWebhook: async (deps, { params: { factory }, body, ifSerial }) => {
    const change = createWebhook({ ...openFactory(deps, factory), ifSerial }, body);
    const { state, result } = await change;
    return { body: toManaged(deps.baseUrl, state, result), serial: state.serial, changed: body.name };
  },
  showWebhook: async (deps, { params: { factory, uid } }) => {
    const body = await showWebhook(openFactory(deps, factory), uid, deps.baseUrl);
    return { body, serial: body.serial };
  },
  changeWebhook: async (deps, { params: { factory, uid }, body, ifSerial }) => {
    const change = changeWebhook({ ...openFactory(deps, factory), ifSerial }, uid, body, deps.baseUrl);
    const { state, result } = await change;
    const changed = describeChange(uid, body, result);
    return { body: webhookDetail(state, result, deps.baseUrl), serial: state.serial, changed };
  },
  changeWebhookSecret: async (deps, { params: { factory, uid }, body, ifSerial }) => {
    const change = changeWebhookSecret({ ...openFactory(deps, factory), ifSerial }, uid, body.value);
    const { state, result } = await change;
    const changed = `${result.webhook.name} (${uid})`;
    return { body: toManaged(deps.baseUrl, state, result), serial: state.serial, changed };
  },
  beginSecretRotation: async (deps, { params: { factory, uid }, ifSerial }) => {
    const { state, result } = await beginSecretRotation({ ...openFactory(deps, factory), ifSerial }, uid);
    const { webhook, until, isContinued } = result;
    const { serial } = state;
    const body = { webhook: webhook.name, secretName: webhook.secretName, serial, until, isContinued };
    const changed = isContinued ? null : `${webhook.name} (${uid}): previous value until ${until}`;
    return { body, serial, changed };
  },
  endSecretRotation: async (deps, { params: { factory, uid }, ifSerial }) => {
    const { serial } = await endSecretRotation({ ...openFactory(deps, factory), ifSerial }, uid);
    return { body: { serial }, serial };
  },
  deleteWebhook: async (deps, { params: { factory, uid }, ifSerial }) => {
    const change = deleteWebhook({ ...openFactory(deps, factory), ifSerial }, uid);
    const { state, result } = await change;
    return { body: undefined, serial: state.serial, changed: `${result.name} (${uid})` };
  },

  listAutomations: async (deps, { params: { factory } }) => {
    const body = await listAutomations(openFactory(deps, factory));
    return { body, serial: body.serial };
  },
  createAutomation: async (deps, { params: { factory }, body, ifSerial }) => {
    const change = createAutomation({ ...openFactory(deps, factory), ifSerial }, body);
    const { state, result } = await change;
    return { body: automationDetail(state, result), serial: state.serial, changed: body.name };
  },
  showAutomation: async (deps, { params: { factory, automation } }) => {
    const body = await showAutomation(openFactory(deps, factory), automation);
    return { body, serial: body.serial };
  },
  replaceAutomation: async (deps, { params: { factory, automation: name }, body, ifSerial }) => {
    const change = replaceAutomation({ ...openFactory(deps, factory), ifSerial }, name, body);
    const { state, result } = await change;
    return { body: automationDetail(state, result), serial: state.serial };
  },
  deleteAutomation: async (deps, { params: { factory, automation }, ifSerial }) => {
    const change = deleteAutomation({ ...openFactory(deps, factory), ifSerial }, automation);
    const { state } = await change;
    return { body: undefined, serial: state.serial };
  },
};

async function setSuspended(deps: OperationDeps, factory: string, suspended: boolean) {
  const { suspendedAt, isNew } = await suspendReconcile(openFactory(deps, factory), suspended);
  return { body: { suspendedAt }, ...(!isNew && { changed: null }) };
}

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
