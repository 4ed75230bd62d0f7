import { isEdited } from '../../../operations/applied-source.ts';
import {
  createAutomation,
  deleteAutomation,
  findAutomation,
  replaceAutomation,
} from '../../../operations/automations.ts';
import {
  automationDetail,
  automationView,
  factoryView,
  sourceView,
  webhookDetail,
  webhookView,
} from '../../../operations/views/applied-views.ts';
import { reconcileView } from '../../../operations/views/reconcile-view.ts';
import {
  changeWebhook,
  changeWebhookSecret,
  createWebhook,
  deleteWebhook,
  findWebhook,
  type ManagedWebhook,
} from '../../../operations/webhooks.ts';
import type { AppliedState } from '../../../schema/applied-state.ts';
import { readReconcileStatus } from '../../../store/embedded/reconcile-statuses.ts';
import { listSecrets } from '../../../store/embedded/team-secrets.ts';
import { type ApiDeps, factoryOf, stateOf } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

type FactoryHandlers = Pick<
  ApiHandlers,
  | 'showStatus'
  | 'listWebhooks'
  | 'createWebhook'
  | 'showWebhook'
  | 'changeWebhook'
  | 'changeWebhookSecret'
  | 'deleteWebhook'
  | 'listAutomations'
  | 'createAutomation'
  | 'showAutomation'
  | 'replaceAutomation'
  | 'deleteAutomation'
  | 'listSecrets'
>;

/** A factory's applied state, shown and changed. A change is served before it is answered. */
export function factoryHandlers(deps: ApiDeps): FactoryHandlers {
  const { appliedStates, baseUrl, home } = deps;

  /** The change, once the ingress goes by it. */
  const inForce = async <T>(change: Promise<T>): Promise<T> => {
    const changed = await change;
    await appliedStates.refresh();
    return changed;
  };
  const changedWebhook = (state: AppliedState, { webhook, generated }: ManagedWebhook) => {
    const detail = webhookDetail(state, webhook, baseUrl());
    return { webhook: detail, revealed: generated === undefined ? null : reveal(detail.url, generated) };
  };

  return {
    showStatus: async ({ params: { factory }, caller }) => {
      const state = stateOf(deps, factory);
      const { source, serial } = state;
      const body = {
        ...factoryView(state),
        permission: caller.token.permission,
        source: sourceView(source),
        revision: source?.kind === 'repository' ? source.revision : null,
        appliedAt: serial === 0 ? null : state.appliedAt,
        edited: isEdited(state),
        reconcile: reconcileView(await readReconcileStatus(home, factory)),
        problem: appliedStates.status().find(status => status.factory === factory)?.problem ?? null,
      };
      return { body, serial };
    },

    listWebhooks: ({ params: { factory } }) => {
      const state = stateOf(deps, factory);
      const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl()));
      return { body: { serial: state.serial, webhooks }, serial: state.serial };
    },
    createWebhook: async ({ params: { factory }, body, ifSerial }) => {
      const { state, result } = await inForce(createWebhook(factoryOf(deps, factory, ifSerial), body));
      return { body: changedWebhook(state, result), serial: state.serial };
    },
    showWebhook: ({ params: { factory, uid } }) => {
      const state = stateOf(deps, factory);
      return { body: webhookDetail(state, findWebhook(state, uid), baseUrl()), serial: state.serial };
    },
    changeWebhook: async ({ params: { factory, uid }, body, ifSerial }) => {
      const changed = await inForce(changeWebhook(factoryOf(deps, factory, ifSerial), uid, body));
      const { state, result } = changed;
      return { body: webhookDetail(state, result, baseUrl()), serial: state.serial };
    },
    changeWebhookSecret: async ({ params: { factory, uid }, body, ifSerial }) => {
      const managed = factoryOf(deps, factory, ifSerial);
      const { state, result } = await inForce(changeWebhookSecret(managed, uid, body.value));
      return { body: changedWebhook(state, result), serial: state.serial };
    },
    deleteWebhook: async ({ params: { factory, uid }, ifSerial }) => {
      const { state } = await inForce(deleteWebhook(factoryOf(deps, factory, ifSerial), uid));
      return { body: undefined, serial: state.serial };
    },

    listAutomations: ({ params: { factory } }) => {
      const state = stateOf(deps, factory);
      const automations = state.automations.map(automation => automationView(state, automation));
      return { body: { serial: state.serial, automations }, serial: state.serial };
    },
    createAutomation: async ({ params: { factory }, body, ifSerial }) => {
      const { state, result } = await inForce(createAutomation(factoryOf(deps, factory, ifSerial), body));
      return { body: automationDetail(state, result), serial: state.serial };
    },
    showAutomation: ({ params: { factory, automation } }) => {
      const state = stateOf(deps, factory);
      return { body: automationDetail(state, findAutomation(state, automation)), serial: state.serial };
    },
    replaceAutomation: async ({ params: { factory, automation: name }, body, ifSerial }) => {
      const managed = factoryOf(deps, factory, ifSerial);
      const { state, result } = await inForce(replaceAutomation(managed, { name, ...body }));
      return { body: automationDetail(state, result), serial: state.serial };
    },
    deleteAutomation: async ({ params: { factory, automation }, ifSerial }) => {
      const { state } = await inForce(deleteAutomation(factoryOf(deps, factory, ifSerial), automation));
      return { body: undefined, serial: state.serial };
    },

    listSecrets: async ({ params: { factory }, caller }) => {
      const secrets = (await listSecrets(home)).map(({ name, state, updatedAt, usedBy }) => {
        const here = usedBy.filter(use => use.factory === factory).map(use => use.webhook);
        return { name, state, updatedAt, usedBy: here, usedElsewhere: here.length < usedBy.length };
      });
      const visible = caller.token.permission === 'manage' ? secrets : secrets.filter(isUsedHere);
      return { body: { secrets: visible } };
    },
  };
}

function isUsedHere({ usedBy }: { readonly usedBy: readonly string[] }): boolean {
  return usedBy.length > 0;
}

/** What was generated, in the form that its sender needs. */
function reveal(url: string, generated: string) {
  return url.includes('{token}') ? { url: url.replace('{token}', generated) } : { secret: generated };
}
