import { posix } from 'node:path';
import type { NewWebhook, WebhookChange } from '../../schema/api/requests.ts';
import { type AppliedState, type AppliedWebhook, findPrevious } from '../../schema/applied-state.ts';
import { urlGone } from '../../schema/changes/describe-impact.ts';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import { renderWebhookYaml } from '../../schema/definitions/definition-yaml.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { webhooksMax } from '../../schema/factory-size.ts';
import { createUid, uidRandomBytes } from '../../schema/ids.ts';
import { compareNames, hasSecret } from '../../schema/names.ts';
import { type Instead, Refusal } from '../../schema/refusal.ts';
import { findRunningEnd } from '../../schema/stored-times.ts';
import { describeScheme } from '../../signatures/schemes.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { makeCredential, withoutPrevious } from '../access/credential.ts';
import {
  chooseSecret,
  encodeSecret,
  generateSecret,
  requireSupplied,
  type SecretChoice,
  secretRandomBytes,
} from '../access/new-webhook-secret.ts';
import { requireSoleUse } from '../access/secrets.ts';
import { findDefinitionFile, findManagement, requireManagedHere } from '../applied-source.ts';
import { findSecretMistake, type SecretWebhook } from '../checks/secret-diagnostics.ts';
import { findOtherUse, readSecretUses } from '../checks/shared-secrets.ts';
import type { OpenFactory } from '../factory.ts';
import { type WebhookDetail, type WebhookView, webhookDetail, webhookView } from '../views/applied-views.ts';
import { type Changed, changeFactory, type ManagedFactory, requireAsShown } from './change-factory.ts';
import { endOverlap } from './end-overlap.ts';
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
    const uid = createUid(factory.randomBytes(uidRandomBytes));
    const secret = choice && (await storeSecret(factory, definition, choice, uid));
    if (choice && request.secret.kind === 'existing' && !request.secret.allowShared) {
      await requireSameUse(factory, definition);
    }
    const credential = await makeCredential(factory, definition, uid, secret, undefined);
    const webhook = { ...definition, uid, createdAt: factory.now().toISOString(), credential };
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
      if (enabled !== existing.enabled)
        webhook = { ...webhook, switched: noteSwitchByHand(factory, existing) };
      const reapplies = enabled && findManagement(state) !== 'repository';
      webhook = reapplies ? await reapply(factory, { ...webhook, enabled }) : { ...webhook, enabled };
    }
    return { next: { webhooks: replaceWebhook(state, existing, webhook) }, result: webhook };
  });
}

/** Whoever switches a webhook back makes it again as its definition file says. */
function noteSwitchByHand({ now }: ManagedFactory, { switched }: AppliedWebhook) {
  return { at: now().toISOString(), byHand: switched?.byHand !== true };
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

export interface SecretRotation {
  readonly webhook: SecretWebhook;
  /** When the value before ends, unless the rotation is ended first. */
  readonly until: string;
  /** Whether an overlap was running already: then no other value was set. */
  readonly isContinued: boolean;
}

/** @limit Time for which a rotation of a webhook's secret keeps the value before valid, in ms (an hour): a command needs seconds, and a person who goes on after it failed some minutes. */
const rotationMs = 3_600_000;

/**
 * Gives the team secret of a webhook a random value, and applies the definition of this webhook again, wherever the factory
 * is managed. The value before stays valid for an hour. Fails with `secret-shared`, `secret-referenced` or `secret-overlap`.
 */
export async function beginSecretRotation(
  factory: ManagedFactory,
  uid: string,
): Promise<Changed<SecretRotation>> {
  const { store, now, randomBytes } = factory;
  return changeFactory<SecretRotation>(factory, async state => {
    const existing = requireWebhook(state, uid);
    if (!hasSecret(existing)) throw new Refusal('request-invalid', { mistakes: [noSecret] });
    await requireSoleUse(factory, existing);
    const running = findRunningEnd(findPrevious(existing), now().getTime());
    if (running !== undefined)
      return { next: {}, result: { webhook: existing, until: running, isContinued: true } };
    requireKeepable(existing);
    const { secretName, signatureScheme } = existing;
    const description = signatureScheme === undefined ? undefined : describeScheme(signatureScheme);
    const value = encodeSecret(description, randomBytes(secretRandomBytes));
    const setting = store.teamSecrets.setOverlapping(secretName, value, rotationMs);
    const until = await setting.catch(refuseOverlap);
    const webhook = { ...(await reapply(factory, existing)), secretName };
    const next = { webhooks: replaceWebhook(state, existing, webhook) };
    return { next, result: { webhook, until, isContinued: false } };
  });
}

/** Ends the overlap of a webhook's secret at once. Fails with `secret-shared` if other webhooks have one too, or `secret-overlap`. */
export async function endSecretRotation(factory: ManagedFactory, uid: string): Promise<AppliedState> {
  const { store, name } = factory;
  const webhook = requireWebhook(await store.appliedStates.read(name), uid);
  if (!hasSecret(webhook)) throw new Refusal('request-invalid', { mistakes: [noSecret] });
  await requireSoleUse(factory, webhook);
  const secret = (await store.teamSecrets.list()).find(secret => secret.name === webhook.secretName);
  if (!findPrevious(webhook) && secret?.previousUntil === undefined) {
    const detail = `no previous value of the team secret ${webhook.secretName} is kept`;
    throw new Refusal('secret-overlap', { detail });
  }
  await endOverlap(factory, webhook.secretName).catch(refuseOverlap);
  return store.appliedStates.read(name);
}

/** Refuses before anything is written what `setOverlapping` would refuse. */
function requireKeepable({ name, authMode, enabled, credential }: AppliedWebhook): void {
  const refuse = (why: string) => new Refusal('secret-overlap', { detail: `the webhook ${name} ${why}` });
  if (authMode === 'url_token') throw refuse('has its secret in its URL, so that two cannot be valid');
  if (!enabled || credential.kind === 'unset')
    throw refuse('uses no value of its secret yet, or is disabled, so there is none to keep');
}

function refuseOverlap(cause: unknown): never {
  const isOverlap = cause instanceof StoreError && cause.code === 'secret-overlap';
  throw isOverlap ? new Refusal('secret-overlap', { detail: cause.message }, { cause }) : cause;
}

/**
 * Deletes a webhook. Its UID is never used again, because no definition of it can come back. The team secret that its creation
 * made goes with it, unless it has another use; its automations stay.
 */
export async function deleteWebhook(factory: ManagedFactory, uid: string): Promise<Changed<AppliedWebhook>> {
  const changed = await changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    requireManagedHere(state, () => explainRemoval(state, existing));
    return { next: { webhooks: state.webhooks.filter(other => other !== existing) }, result: existing };
  });
  // A secret that stays harms nothing, and the webhook is gone.
  await factory.store.teamSecrets.removeMadeFor(uid).catch(() => undefined);
  return changed;
}

/** Creates the chosen team secret, or opens the existing one. An unusable value is not stored. */
async function storeSecret(
  factory: ManagedFactory,
  definition: WebhookDefinition,
  choice: SecretChoice,
  uid: string,
): Promise<TeamSecret | undefined> {
  if (choice.kind === 'new') {
    if (choice.value !== undefined)
      checkValue({ ...definition, secretName: choice.name }, choice.value, '/secret/value');
    await factory.store.teamSecrets
      .create(choice.name, choice.value, factory.name, uid)
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
  const text = `create the team secret with \`${renderSecretCommand(definition)}\`, write ${posix.basename(file)} and run \`hookmill apply\``;
  return { text, file, yaml: renderWebhookYaml(definition) };
}

function explainRemoval(state: AppliedState, { name }: AppliedWebhook): Instead {
  const file = findDefinitionFile(state, 'webhook', name) ?? '';
  return {
    text: `remove ${posix.basename(file)} and run \`hookmill apply\`; the ${urlGone}`,
    file,
  };
}

function explainSecret(state: AppliedState, webhook: AppliedWebhook): Instead {
  const next =
    findManagement(state) === 'repository'
      ? 'webhooks use it after the next change of the branch'
      : 'then run `hookmill apply`, or disable and enable the webhook';
  return { text: `set a new value with \`${renderSecretCommand(webhook)}\`; ${next}` };
}

function replaceWebhook(
  { webhooks }: AppliedState,
  existing: AppliedWebhook,
  webhook: AppliedWebhook,
): AppliedWebhook[] {
  return webhooks.map(other => (other === existing ? webhook : other)).sort(compareNames);
}
