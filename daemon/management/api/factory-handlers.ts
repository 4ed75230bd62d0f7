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
import { type ApiDeps, openServedFactory, serveChange } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

/** Handles requests for a factory's applied state. The ingress serves a change before the request is answered. */
export function createFactoryHandlers(
  deps: ApiDeps,
): Pick<ApiHandlers, 'showStatus' | 'listSecrets'> & WebhookHandlers & AutomationHandlers {
  return {
    showStatus: async ({ params: { factory }, caller }) => {
      const status = await showStatus(openServedFactory(deps, factory));
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
    ...createWebhookHandlers(deps),
    ...createAutomationHandlers(deps),
  };
}

type WebhookHandlers = Pick<
  ApiHandlers,
  'listWebhooks' | 'createWebhook' | 'showWebhook' | 'changeWebhook' | 'changeWebhookSecret' | 'deleteWebhook'
>;

function createWebhookHandlers(deps: ApiDeps): WebhookHandlers {
  const { baseUrl } = deps;
  const toManaged = (state: AppliedState, { webhook, generated }: ManagedWebhook) => {
    const detail = webhookDetail(state, webhook, baseUrl());
    return { webhook: detail, revealed: generated === undefined ? null : reveal(detail.url, generated) };
  };
  return {
    listWebhooks: async ({ params: { factory } }) => {
      const body = await listWebhooks(openServedFactory(deps, factory), baseUrl());
      return { body, serial: body.serial };
    },
    createWebhook: async ({ params: { factory }, body, ifSerial }) => {
      const change = createWebhook({ ...openServedFactory(deps, factory), ifSerial }, body);
      const { state, result } = await serveChange(deps, change);
      return { body: toManaged(state, result), serial: state.serial };
    },
    showWebhook: async ({ params: { factory, uid } }) => {
      const body = await showWebhook(openServedFactory(deps, factory), uid, baseUrl());
      return { body, serial: body.serial };
    },
    changeWebhook: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhook({ ...openServedFactory(deps, factory), ifSerial }, uid, body);
      const { state, result } = await serveChange(deps, change);
      return { body: webhookDetail(state, result, baseUrl()), serial: state.serial };
    },
    changeWebhookSecret: async ({ params: { factory, uid }, body, ifSerial }) => {
      const change = changeWebhookSecret({ ...openServedFactory(deps, factory), ifSerial }, uid, body.value);
      const { state, result } = await serveChange(deps, change);
      return { body: toManaged(state, result), serial: state.serial };
    },
    deleteWebhook: async ({ params: { factory, uid }, ifSerial }) => {
      const change = deleteWebhook({ ...openServedFactory(deps, factory), ifSerial }, uid);
      const { state } = await serveChange(deps, change);
      return { body: undefined, serial: state.serial };
    },
  };
}

type AutomationHandlers = Pick<
  ApiHandlers,
  'listAutomations' | 'createAutomation' | 'showAutomation' | 'replaceAutomation' | 'deleteAutomation'
>;

function createAutomationHandlers(deps: ApiDeps): AutomationHandlers {
  return {
    listAutomations: async ({ params: { factory } }) => {
      const body = await listAutomations(openServedFactory(deps, factory));
      return { body, serial: body.serial };
    },
    createAutomation: async ({ params: { factory }, body, ifSerial }) => {
      const change = createAutomation({ ...openServedFactory(deps, factory), ifSerial }, body);
      const { state, result } = await serveChange(deps, change);
      return { body: automationDetail(state, result), serial: state.serial };
    },
    showAutomation: async ({ params: { factory, automation } }) => {
      const body = await showAutomation(openServedFactory(deps, factory), automation);
      return { body, serial: body.serial };
    },
    replaceAutomation: async ({ params: { factory, automation: name }, body, ifSerial }) => {
      const change = replaceAutomation({ ...openServedFactory(deps, factory), ifSerial }, { name, ...body });
      const { state, result } = await serveChange(deps, change);
      return { body: automationDetail(state, result), serial: state.serial };
    },
    deleteAutomation: async ({ params: { factory, automation }, ifSerial }) => {
      const change = deleteAutomation({ ...openServedFactory(deps, factory), ifSerial }, automation);
      const { state } = await serveChange(deps, change);
      return { body: undefined, serial: state.serial };
    },
  };
}

/** Returns a generated secret in the form that the sender needs: a URL or a value. */
function reveal(url: string, generated: string) {
  return url.includes('{token}') ? { url: url.replace('{token}', generated) } : { secret: generated };
}
