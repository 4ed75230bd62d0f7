import type { z } from 'zod';
import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { pickRunControl } from '../../schema/definitions/automation-definition.ts';
import { renderAutomationYaml, renderWebhookYaml } from '../../schema/definitions/definition-yaml.ts';
import { findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { listKeptHeaders } from '../../schema/kept-headers.ts';
import { getCommit } from '../../schema/source-commit.ts';
import type * as shown from '../../schema/views/definitions.ts';
import type { factoryAnswer } from '../../schema/views/factories.ts';
import { findScheme } from '../../signatures/schemes.ts';
import { findDefinitionFile, findManagement } from '../applied-source.ts';

export type FactoryView = z.output<typeof factoryAnswer>;
export type WebhookView = z.output<typeof shown.webhookAnswer>;
export type WebhookDetail = z.output<typeof shown.webhookDetailAnswer>;
export type AutomationView = z.output<typeof shown.automationAnswer>;
export type AutomationDetail = z.output<typeof shown.automationDetailAnswer>;

// No view shows a credential.

export function factoryView(state: AppliedState): FactoryView {
  const { factory, serial, webhooks, automations } = state;
  const managedBy = findManagement(state);
  return { factory, managedBy, serial, webhooks: webhooks.length, automations: automations.length };
}

/** The source of the applied state, without the digest that only hookmill uses. */
export function sourceView(source: AppliedState['source']) {
  if (source?.kind !== 'repository') return source;
  const { contentDigest: _, ...shown } = source;
  return shown;
}

/** Keys that a definition may leave out, in the order in which answers have them. */
const unwritten = {
  ...{ signatureScheme: null, provider: null, secretName: null, issuer: null, audience: null, claims: null },
  ...{ tokenHeader: null, tokenPrefix: null, tokenScheme: null, tokenUser: null },
  ...{ bodyFormat: 'json', payloadField: null, deliveryIdHeader: null, deliveryIdField: null },
  ...{ identity: null, handshake: null, sender: null },
};

export function webhookView(state: AppliedState, webhook: AppliedWebhook, baseUrl: string): WebhookView {
  const { name, uid, authMode, createdAt = null, switched: _, credential, ...keys } = webhook;
  const url = renderIngressUrl(baseUrl, webhook);
  const form = findFormFormat(webhook);
  return {
    name,
    uid,
    url,
    authMode,
    ...unwritten,
    audience: authMode === 'oidc' ? url : null,
    keepHeaders: [],
    eventHeaders: [...listKeptHeaders(webhook)],
    ...keys,
    bodyFormat: form ? 'form' : 'json',
    payloadField: form?.payloadField ?? null,
    provider: findScheme(webhook.signatureScheme)?.provider ?? null,
    credential: credential.kind === 'unset' ? 'not set' : 'set',
    createdAt,
    file: findDefinitionFile(state, 'webhook', name),
    commit: getCommit(state) ?? null,
  };
}

export function webhookDetail(state: AppliedState, webhook: AppliedWebhook, baseUrl: string): WebhookDetail {
  return { ...webhookView(state, webhook, baseUrl), serial: state.serial, yaml: renderWebhookYaml(webhook) };
}

export function automationView(state: AppliedState, automation: AppliedAutomation): AutomationView {
  const { name, enabled, prompt, triggers } = automation;
  return {
    name,
    enabled,
    prompt,
    triggers: triggers.map(({ filter: { webhook: written, webhook_ids, payload, headers } }) => {
      const [uid = ''] = webhook_ids;
      const webhook = state.webhooks.find(webhook => webhook.uid === uid)?.name ?? null;
      const byName = written === undefined ? {} : { byName: webhook ?? written };
      return { uid, webhook, ...byName, ...(payload && { payload }), ...(headers && { headers }) };
    }),
    ...pickRunControl(automation),
    file: findDefinitionFile(state, 'automation', name),
  };
}

export function automationDetail(state: AppliedState, automation: AppliedAutomation): AutomationDetail {
  return {
    ...automationView(state, automation),
    serial: state.serial,
    yaml: renderAutomationYaml(automation, state.webhooks),
  };
}
