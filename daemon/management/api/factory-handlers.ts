import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  replaceAutomation,
  showAutomation,
} from '../../../operations/automations.ts';
import { listFactorySecrets } from '../../../operations/secrets.ts';
import { showStatus } from '../../../operations/status.ts';
import { automationDetail, webhookDetail } from '../../../operations/views/applied-views.ts';
import {
  changeWebhook,
  changeWebhookSecret,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  type ManagedWebhook,
  showWebhook,
} from '../../../operations/webhooks.ts';
import type { WebhookChange } from '../../../schema/api/requests.ts';
import type { AppliedState } from '../../../schema/applied-state.ts';
import type { ThreadHandlers } from './handler.ts';
import { type OperationDeps, openFactory } from './operation-deps.ts';

/** Handles requests for a factory's applied state. */
export function createFactoryHandlers(
  deps: OperationDeps,
): Pick<ThreadHandlers, 'showStatus' | 'listSecrets'> & WebhookHandlers & AutomationHandlers {
  return {
    showStatus: async ({ params: { factory }, permission }) => {
      const status = await showStatus(openFactory(deps, factory));
      const body = { ...status, permission, problem: deps.problem };
      return { body, serial: status.serial };
    },
    listSecrets: async ({ params: { factory }, permission }) => ({
      body: { secrets: await listFactorySecrets({ name: factory, store: deps.store }, permission) },
    }),
    ...createWebhookHandlers(deps),
    ...createAutomationHandlers(deps),
  };
}

type WebhookHandlers = Pick<
  ThreadHandlers,
  'listWebhooks' | 'createWebhook' | 'showWebhook' | 'changeWebhook' | 'changeWebhookSecret' | 'deleteWebhook'
>;

function createWebhookHandlers(deps: OperationDeps): WebhookHandlers {
  const { baseUrl } = deps;
  const toManaged = (state: AppliedState, { webhook, generated }: ManagedWebhook) => {
    const detail = webhookDetail(state, webhook, baseUrl);
    return { webhook: detail, revealed: generated === undefined ? null : reveal(detail.url, generated) };
  };
  return {
    listWebhooks: async ({ params: { factory } }) => {
      const body = await listWebhooks(openFactory(deps, factory), baseUrl);
      return { body, serial: body.serial };
    },
    createWebhook: async ({ params: { factory }, body, ifSerial }) => {
      const change = createWebhook({ ...openFactory(deps, factory), ifSerial }, body);
      const { state, result } = await change;
      return { body: toManaged(state, result), serial: state.serial, changed: body.name };
    },
    showWebhook: async ({ params: { factory, uid } }) => {
      const body = await showWebhook(openFactory(deps, factory), uid, baseUrl);
      return { body, serial: body.serial };
    },
    changeWebhook: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhook({ ...openFactory(deps, factory), ifSerial }, uid, body);
      const { state, result } = await change;
      const changed = describeChange(uid, body, result);
      return { body: webhookDetail(state, result, baseUrl), serial: state.serial, changed };
    },
    changeWebhookSecret: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhookSecret({ ...openFactory(deps, factory), ifSerial }, uid, body.value);
      const { state, result } = await change;
      const changed = `${result.webhook.name} (${uid})`;
      return { body: toManaged(state, result), serial: state.serial, changed };
    },
    deleteWebhook: async ({ params: { factory, uid }, ifSerial }) => {
      const change = deleteWebhook({ ...openFactory(deps, factory), ifSerial }, uid);
      const { state, result } = await change;
      return { body: undefined, serial: state.serial, changed: `${result.name} (${uid})` };
    },
  };
}

function describeChange(uid: string, { name, enabled }: WebhookChange, webhook: { readonly name: string }) {
  const states = enabled === undefined ? [] : [enabled ? 'enabled' : 'disabled'];
  const names = name === undefined ? [] : ['renamed'];
  return `${webhook.name} (${uid}): ${[...names, ...states].join(', ')}`;
}

type AutomationHandlers = Pick<
  ThreadHandlers,
  'listAutomations' | 'createAutomation' | 'showAutomation' | 'replaceAutomation' | 'deleteAutomation'
>;

function createAutomationHandlers(deps: OperationDeps): AutomationHandlers {
  return {
    listAutomations: async ({ params: { factory } }) => {
      const body = await listAutomations(openFactory(deps, factory));
      return { body, serial: body.serial };
    },
    createAutomation: async ({ params: { factory }, body, ifSerial }) => {
      const change = createAutomation({ ...openFactory(deps, factory), ifSerial }, body);
      const { state, result } = await change;
      return { body: automationDetail(state, result), serial: state.serial, changed: body.name };
    },
    showAutomation: async ({ params: { factory, automation } }) => {
      const body = await showAutomation(openFactory(deps, factory), automation);
      return { body, serial: body.serial };
    },
    replaceAutomation: async ({ params: { factory, automation: name }, body, ifSerial }) => {
      const change = replaceAutomation({ ...openFactory(deps, factory), ifSerial }, { name, ...body });
      const { state, result } = await change;
      return { body: automationDetail(state, result), serial: state.serial };
    },
    deleteAutomation: async ({ params: { factory, automation }, ifSerial }) => {
      const change = deleteAutomation({ ...openFactory(deps, factory), ifSerial }, automation);
      const { state } = await change;
      return { body: undefined, serial: state.serial };
    },
  };
}

/** Returns a generated secret in the form that the sender needs: a URL or a value. */
function reveal(url: string, generated: string) {
  return url.includes('{token}') ? { url: url.replace('{token}', generated) } : { secret: generated };
}
