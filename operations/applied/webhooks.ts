import { posix } from 'node:path';
import type { NewWebhook, WebhookChange } from '../../schema/api/requests.ts';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { renderWebhookYaml } from '../../schema/definitions/definition-yaml.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { webhooksMax } from '../../schema/factory-size.ts';
import { createUid, uidRandomBytes } from '../../schema/ids.ts';
import { compareNames } from '../../schema/name.ts';
import { type Instead, Refusal } from '../../schema/refusal.ts';
import { hasSecret } from '../../schema/secret-name.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import { isOnlyFor, type TeamSecret } from '../../store/ports/team-secrets.ts';
import { makeCredential, withoutPrevious } from '../access/credential.ts';
import {
  chooseSecret,
  generateSecret,
  requireSupplied,
  type SecretChoice,
} from '../access/new-webhook-secret.ts';
import { findSecretMistake, type SecretWebhook } from '../checks/secret-diagnostics.ts';
import { findOtherUse, readSecretUses } from '../checks/shared-secrets.ts';
import type { OpenFactory } from '../factory.ts';
import { findDefinitionFile, findManagement, requireManagedHere } from '../managed-by.ts';
import { type WebhookDetail, type WebhookView, webhookDetail, webhookView } from '../views/applied-views.ts';
import { type Changed, changeFactory, type ManagedFactory, requireAsShown } from './change-factory.ts';
import { requireWebhook } from './require-applied.ts';

export interface ManagedWebhook {
  readonly webhook: AppliedWebhook;
  /** The generated value, to be shown only once. */
  readonly generated?: string | undefined;
}

export interface ListedWebhooks {
  readonly serial: number;
  readonly webhooks: WebhookView[];
}

/** Lists the applied webhooks by name. */
export async function listWebhooks(
  { readState }: Pick<OpenFactory, 'readState'>,
  baseUrl: string,
): Promise<ListedWebhooks> {
  const state = await readState();
  const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl));
  return { serial: state.serial, webhooks };
}

/** Shows an applied webhook. Fails with `webhook-unknown`. */
export async function showWebhook(
  { readState }: Pick<OpenFactory, 'readState'>,
  uid: string,
  baseUrl: string,
): Promise<WebhookDetail> {
  const state = await readState();
  return webhookDetail(state, requireWebhook(state, uid), baseUrl);
}

/** Creates a webhook, and its team secret unless the request names an existing one. */
export async function createWebhook(
  factory: ManagedFactory,
  request: NewWebhook,
): Promise<Changed<ManagedWebhook>> {
  return changeFactory(factory, async state => {
    const { secret: _, ...keys } = request;
    const taken = new Set(await factory.store.teamSecrets.listNames());
    const choice =
      request.authMode === 'oidc' ? undefined : chooseSecret(request, taken, factory.randomBytes);
    const definition: WebhookDefinition = { ...keys, ...(choice && { secretName: choice.name }) };
    requireManagedHere(state, () => explainWrite(state, definition));
    requireFreeName(state, request.name);
    if (state.webhooks.length >= webhooksMax) {
      throw new Refusal('too-many-webhooks', {
        detail: `the factory ${factory.name} already has ${webhooksMax} webhooks; delete one first`,
      });
    }
    const secret = choice && (await storeSecret(factory, definition, choice));
    if (choice && request.secret.kind === 'existing' && !request.secret.allowShared) {
      await requireSameUse(factory, definition);
    }
    const uid = createUid(factory.randomBytes(uidRandomBytes));
    const credential = await makeCredential(factory, definition, uid, secret, undefined);
    const webhook = { ...definition, uid, credential };
    const generated = choice?.kind === 'new' && choice.generated ? choice.value : undefined;
    return {
      next: { webhooks: [...state.webhooks, webhook].sort(compareNames) },
      result: { webhook, generated },
    };
  });
}

/**
 * Renames, enables or disables a webhook. What else the request has must be as `showWebhook` shows it. Enabling applies its definition again, with the current value of its team
 * secret, unless the factory follows a repository: then a new value waits for the branch. Disabling always works.
 */
export async function changeWebhook(
  factory: ManagedFactory,
  uid: string,
  { name, enabled, serial, ...shown }: WebhookChange,
  baseUrl: string,
): Promise<Changed<AppliedWebhook>> {
  return changeFactory({ ...factory, ifSerial: factory.ifSerial ?? serial }, async state => {
    const existing = requireWebhook(state, uid);
    requireAsShown(shown, webhookDetail(state, existing, baseUrl));
    let webhook = existing;
    if (name !== undefined && name !== existing.name) {
      requireManagedHere(state, () => cannotRename);
      requireFreeName(state, name);
      webhook = { ...webhook, name };
    }
    if (enabled !== undefined) {
      const reapplies = enabled && findManagement(state) !== 'repository';
      webhook = reapplies ? await reapply(factory, { ...webhook, enabled }) : { ...webhook, enabled };
    }
    return { next: { webhooks: replaceWebhook(state, existing, webhook) }, result: webhook };
  });
}

const noSecret = {
  ...{ pointer: '', code: 'webhook/oidc-unexpected', message: 'authMode oidc has no secret' },
  hint: 'the keys of the issuer verify; change issuer or claims',
} as const;

const cannotRename: Instead = {
  text: 'webhooks in definition files cannot be renamed: a renamed file is a new webhook with a new URL',
};

/**
 * Replaces a webhook's secret by the supplied value or a generated one. The old secret stops working at once, and so does a
 * previous one that an overlap keeps.
 */
export async function changeWebhookSecret(
  factory: ManagedFactory,
  uid: string,
  supplied: string | undefined,
): Promise<Changed<ManagedWebhook>> {
  return changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    if (!hasSecret(existing)) throw new Refusal('request-invalid', { mistakes: [noSecret] });
    requireManagedHere(state, () => explainSecret(state, existing));
    if (supplied !== undefined) requireSupplied(existing, '/value');
    const value = supplied ?? generateSecret(existing, factory.randomBytes, '/value');
    checkValue(existing, value, '/value');
    await requireSoleUse(factory, existing);
    await factory.store.teamSecrets
      .set(existing.secretName, value, factory.name)
      .catch(refuseSecret('/value'));
    await factory.store.teamSecrets.endOverlap(existing.secretName);
    const webhook = withoutPrevious(await reapply(factory, existing));
    const generated = supplied === undefined ? value : undefined;
    return { next: { webhooks: replaceWebhook(state, existing, webhook) }, result: { webhook, generated } };
  });
}

/** Deletes a webhook. Its UID is never used again. Its team secret and its automations stay. */
export async function deleteWebhook(factory: ManagedFactory, uid: string): Promise<Changed<AppliedWebhook>> {
  return changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    requireManagedHere(state, () => explainRemoval(state, existing));
    return { next: { webhooks: state.webhooks.filter(other => other !== existing) }, result: existing };
  });
}

/** Creates the chosen team secret, or opens the existing one. An unusable value is not stored. */
async function storeSecret(
  factory: ManagedFactory,
  definition: WebhookDefinition,
  choice: SecretChoice,
): Promise<TeamSecret | undefined> {
  if (choice.kind === 'new') {
    if (choice.value !== undefined)
      checkValue({ ...definition, secretName: choice.name }, choice.value, '/secret/value');
    await factory.store.teamSecrets
      .create(choice.name, choice.value, factory.name)
      .catch(refuseSecret('/secret/value'));
  }
  return openSecret(factory, definition, '/secret');
}

const refuseSecret =
  (pointer: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof StoreError)) throw cause;
    const { code, message } = cause;
    if (code === 'secret-taken') throw new Refusal('secret-taken', { detail: message }, { cause });
    if (code !== 'secret-invalid') throw cause;
    const mistakes = [{ pointer, code: 'definition/value', message }];
    throw new Refusal('request-invalid', { mistakes }, { cause });
  };

/** Applies the webhook's definition again, with the current value of its team secret. */
async function reapply(factory: ManagedFactory, webhook: AppliedWebhook): Promise<AppliedWebhook> {
  const secret = await openSecret(factory, webhook, '/enabled');
  const credential = await makeCredential(factory, webhook, webhook.uid, secret, webhook);
  return { ...webhook, credential };
}

async function openSecret(
  { name, store }: ManagedFactory,
  webhook: WebhookDefinition,
  pointer: string,
): Promise<TeamSecret | undefined> {
  if (!hasSecret(webhook)) return undefined;
  const secret = (await store.teamSecrets.open([webhook.secretName], name)).get(webhook.secretName);
  requireUsable(webhook, secret, pointer);
  return secret;
}

function checkValue(webhook: SecretWebhook, text: string, pointer: string): void {
  requireUsable(webhook, { name: webhook.secretName, value: { version: '', text } }, pointer);
}

function requireUsable(webhook: SecretWebhook, secret: TeamSecret | undefined, pointer: string): void {
  if (!secret || secret.forbiddenTo !== undefined) {
    const which = secret ? 'the factory may not use the team secret' : 'there is no team secret';
    throw new Refusal('secret-missing', { detail: `${which} ${webhook.secretName}` });
  }
  const mistake = findSecretMistake(webhook, secret, []);
  if (mistake) throw new Refusal('request-invalid', { mistakes: [{ pointer, ...mistake }] });
}

/** Refuses if the value is kept elsewhere, if another webhook uses the team secret too, or if another factory may. */
async function requireSoleUse({ store, name }: ManagedFactory, webhook: SecretWebhook): Promise<void> {
  const secret = (await store.teamSecrets.list()).find(secret => secret.name === webhook.secretName);
  if (!secret) return;
  if (secret.from !== undefined) {
    throw new Refusal('secret-referenced', {
      detail: `the value of the team secret ${webhook.secretName} is kept at ${secret.from}`,
      instead: { text: 'change it there, then disable and enable the webhook' },
    });
  }
  const here = secret.usedBy.filter(use => use.factory === name && use.webhook !== webhook.name);
  const isShared = !isOnlyFor(secret.factories, name, await store.appliedStates.listFactories());
  if (here.length === 0 && !isShared) return;
  const users = here.map(use => use.webhook ?? 'the repository');
  const others = [...users, ...(isShared ? ['other factories'] : [])].join(', ');
  throw new Refusal('secret-shared', {
    detail: `the team secret ${webhook.secretName} is not only for this webhook, but also for: ${others}`,
    instead: {
      text: `set a new value with \`hookmill secrets set ${webhook.secretName}\`, then disable and enable each webhook`,
    },
  });
}

/** Refuses if another webhook verifies with the team secret in another way, or if a repository uses it. */
async function requireSameUse({ store, name }: ManagedFactory, definition: WebhookDefinition): Promise<void> {
  if (!hasSecret(definition)) return;
  const uses = (await readSecretUses(store.teamSecrets, name)).get(definition.secretName) ?? [];
  const otherUse = findOtherUse(definition, name, uses);
  if (!otherUse) return;
  const detail = `${otherUse.message}; choose another secret, or confirm with "allowShared": true in "secret"`;
  throw new Refusal('secret-shared', { detail });
}

function requireFreeName({ webhooks }: AppliedState, name: string): void {
  if (!webhooks.some(webhook => webhook.name === name)) return;
  throw new Refusal('name-taken', { detail: `the webhook ${name} already exists` });
}

function explainWrite(state: AppliedState, definition: WebhookDefinition): Instead {
  const file = findDefinitionFile(state, 'webhook', definition.name) ?? '';
  const text = `create the team secret with \`hookmill secrets set\`, write ${posix.basename(file)} and run \`hookmill apply\``;
  return { text, file, yaml: renderWebhookYaml(definition) };
}

function explainRemoval(state: AppliedState, { name }: AppliedWebhook): Instead {
  const file = findDefinitionFile(state, 'webhook', name) ?? '';
  return {
    text: `remove ${posix.basename(file)} and run \`hookmill apply\`; the URL cannot be restored`,
    file,
  };
}

function explainSecret(state: AppliedState, { secretName }: AppliedWebhook): Instead {
  const next =
    findManagement(state) === 'repository'
      ? 'webhooks use it after the next change of the branch'
      : 'then run `hookmill apply`, or disable and enable the webhook';
  return { text: `set a new value with \`hookmill secrets set ${secretName}\`; ${next}` };
}

function replaceWebhook(
  { webhooks }: AppliedState,
  existing: AppliedWebhook,
  webhook: AppliedWebhook,
): AppliedWebhook[] {
  return webhooks.map(other => (other === existing ? webhook : other)).sort(compareNames);
}
