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
import type { AppliedState } from '../../../schema/applied-state.ts';
import { type ApiDeps, openFactory } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

/** What one can do with a factory's applied state. A change is served before it is answered. */
export function factoryHandlers(
  deps: ApiDeps,
): Pick<ApiHandlers, 'showStatus' | 'listSecrets'> & WebhookHandlers & AutomationHandlers {
  return {
    showStatus: async ({ params: { factory }, caller }) => {
      const status = await showStatus(openFactory(deps, factory));
      const { permission } = caller.token;
      const served = deps.served.status().find(status => status.factory === factory);
      const body = { ...status, permission, problem: served?.problem ?? null };
      return { body, serial: status.serial };
    },
    listSecrets: async ({ params: { factory }, caller }) => ({
      body: {
        secrets: await listFactorySecrets({ name: factory, store: deps.store }, caller.token.permission),
      },
    }),
    ...webhookHandlers(deps),
    ...automationHandlers(deps),
  };
}

type WebhookHandlers = Pick<
  ApiHandlers,
  'listWebhooks' | 'createWebhook' | 'showWebhook' | 'changeWebhook' | 'changeWebhookSecret' | 'deleteWebhook'
>;

function webhookHandlers(deps: ApiDeps): WebhookHandlers {
  const { baseUrl } = deps;
  const changed = (state: AppliedState, { webhook, generated }: ManagedWebhook) => {
    const detail = webhookDetail(state, webhook, baseUrl());
    return { webhook: detail, revealed: generated === undefined ? null : reveal(detail.url, generated) };
  };
  return {
    listWebhooks: async ({ params: { factory } }) => {
      const body = await listWebhooks(openFactory(deps, factory), baseUrl());
      return { body, serial: body.serial };
    },
    createWebhook: async ({ params: { factory }, body, ifSerial }) => {
      const change = createWebhook({ ...openFactory(deps, factory), ifSerial }, body);
      const { state, result } = await serveChange(deps, change);
      return { body: changed(state, result), serial: state.serial };
    },
    showWebhook: async ({ params: { factory, uid } }) => {
      const body = await showWebhook(openFactory(deps, factory), uid, baseUrl());
      return { body, serial: body.serial };
    },
    changeWebhook: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhook({ ...openFactory(deps, factory), ifSerial }, uid, body);
      const { state, result } = await serveChange(deps, change);
      return { body: webhookDetail(state, result, baseUrl()), serial: state.serial };
    },
    changeWebhookSecret: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhookSecret({ ...openFactory(deps, factory), ifSerial }, uid, body.value);
      const { state, result } = await serveChange(deps, change);
      return { body: changed(state, result), serial: state.serial };
    },
    deleteWebhook: async ({ params: { factory, uid }, ifSerial }) => {
      const change = deleteWebhook({ ...openFactory(deps, factory), ifSerial }, uid);
      const { state } = await serveChange(deps, change);
      return { body: undefined, serial: state.serial };
    },
  };
}

type AutomationHandlers = Pick<
  ApiHandlers,
  'listAutomations' | 'createAutomation' | 'showAutomation' | 'replaceAutomation' | 'deleteAutomation'
>;

function automationHandlers(deps: ApiDeps): AutomationHandlers {
  return {
    listAutomations: async ({ params: { factory } }) => {
      const body = await listAutomations(openFactory(deps, factory));
      return { body, serial: body.serial };
    },
    createAutomation: async ({ params: { factory }, body, ifSerial }) => {
      const change = createAutomation({ ...openFactory(deps, factory), ifSerial }, body);
      const { state, result } = await serveChange(deps, change);
      return { body: automationDetail(state, result), serial: state.serial };
    },
    showAutomation: async ({ params: { factory, automation } }) => {
      const body = await showAutomation(openFactory(deps, factory), automation);
      return { body, serial: body.serial };
    },
    replaceAutomation: async ({ params: { factory, automation: name }, body, ifSerial }) => {
      const change = replaceAutomation({ ...openFactory(deps, factory), ifSerial }, { name, ...body });
      const { state, result } = await serveChange(deps, change);
      return { body: automationDetail(state, result), serial: state.serial };
    },
    deleteAutomation: async ({ params: { factory, automation }, ifSerial }) => {
      const change = deleteAutomation({ ...openFactory(deps, factory), ifSerial }, automation);
      const { state } = await serveChange(deps, change);
      return { body: undefined, serial: state.serial };
    },
  };
}

/** Resolves once the change is made and the ingress serves it. */
async function serveChange<T>({ served }: ApiDeps, change: Promise<T>): Promise<T> {
  const changed = await change;
  await served.refresh();
  return changed;
}

/** A generated secret in the form that its sender needs. */
function reveal(url: string, generated: string) {
  return url.includes('{token}') ? { url: url.replace('{token}', generated) } : { secret: generated };
}
