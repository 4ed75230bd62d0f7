import { posix } from 'node:path';
import type { NewWebhook, WebhookChange } from '../schema/api/requests.ts';
import type { AppliedState, AppliedWebhook } from '../schema/applied-state.ts';
import { webhooksMax } from '../schema/applied-state.ts';
import { webhookYaml } from '../schema/definitions/definition-yaml.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { uidRandomBytes, webhookUid } from '../schema/ids.ts';
import { type Instead, Refusal } from '../schema/refusal.ts';
import { StoreError } from '../store/store-error.ts';
import type { TeamSecret } from '../store/team-secrets.ts';
import { type Changed, changeFactory, type ManagedFactory } from './change-factory.ts';
import { secretProblems } from './checks/secret-problems.ts';
import { makeCredential } from './credential.ts';
import type { OpenFactory } from './factory.ts';
import { findDefinitionFile, findManagement, requireManagedHere } from './managed-by.ts';
import { chooseSecret, generateSecret, requireSupplied, type SecretChoice } from './new-webhook-secret.ts';
import { type WebhookDetail, type WebhookView, webhookDetail, webhookView } from './views/applied-views.ts';

export interface ManagedWebhook {
  readonly webhook: AppliedWebhook;
  /** The value that was generated: to be shown this once. */
  readonly generated?: string | undefined;
}

export interface ListedWebhooks {
  readonly serial: number;
  readonly webhooks: WebhookView[];
}

/** The applied webhooks, by name. */
export async function listWebhooks(
  { readState }: Pick<OpenFactory, 'readState'>,
  baseUrl: string,
): Promise<ListedWebhooks> {
  const state = await readState();
  const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl));
  return { serial: state.serial, webhooks };
}

/** Fails with `webhook-unknown`. */
export async function showWebhook(
  { readState }: Pick<OpenFactory, 'readState'>,
  uid: string,
  baseUrl: string,
): Promise<WebhookDetail> {
  const state = await readState();
  return webhookDetail(state, requireWebhook(state, uid), baseUrl);
}

/** Creates a webhook, and its team secret unless it names an existing one. */
export async function createWebhook(
  factory: ManagedFactory,
  request: NewWebhook,
): Promise<Changed<ManagedWebhook>> {
  return changeFactory(factory, async state => {
    const { secret: _, ...keys } = request;
    const taken = new Set(await factory.store.teamSecrets.listNames());
    const choice = chooseSecret(request, taken, factory.randomBytes);
    const definition: WebhookDefinition = { ...keys, secretName: choice.name };
    requireManagedHere(state, () => writeFile(state, definition));
    requireFreeName(state, request.name);
    if (state.webhooks.length >= webhooksMax) {
      throw new Refusal('too-many-webhooks', { detail: `a factory has at most ${webhooksMax} webhooks` });
    }
    const secret = await keepSecret(factory, definition, choice);
    const uid = webhookUid(factory.randomBytes(uidRandomBytes));
    const credential = await makeCredential(
      factory.name,
      factory.store.seal,
      definition,
      uid,
      secret,
      undefined,
    );
    const webhook = { ...definition, uid, credential };
    const generated = choice.kind === 'new' && choice.generated ? choice.value : undefined;
    return { next: { webhooks: sorted([...state.webhooks, webhook]) }, result: { webhook, generated } };
  });
}

/**
 * Renames a webhook, or toggles it. Enabling applies its definition anew, so that a changed team secret is taken up;
 * not on a factory that follows a repository, where that waits for the branch. Disabling always works.
 */
export async function changeWebhook(
  factory: ManagedFactory,
  uid: string,
  { name, enabled }: WebhookChange,
): Promise<Changed<AppliedWebhook>> {
  return changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    let webhook = existing;
    if (name !== undefined && name !== existing.name) {
      requireManagedHere(state, () => renamed);
      requireFreeName(state, name);
      webhook = { ...webhook, name };
    }
    if (enabled !== undefined) {
      const reapplies = enabled && findManagement(state) !== 'repository';
      webhook = reapplies ? await reapplied(factory, { ...webhook, enabled }) : { ...webhook, enabled };
    }
    return { next: { webhooks: withWebhook(state, existing, webhook) }, result: webhook };
  });
}

const renamed: Instead = {
  text: 'renaming is unsupported where webhooks are definition files: a renamed file is another webhook with another URL',
};

/** Gives a webhook another secret, the provider's or a generated one. The old one stops working at once. */
export async function changeWebhookSecret(
  factory: ManagedFactory,
  uid: string,
  supplied: string | undefined,
): Promise<Changed<ManagedWebhook>> {
  return changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    requireManagedHere(state, () => setSecretInstead(state, existing));
    if (supplied !== undefined) requireSupplied(existing, '/value');
    const value = supplied ?? generateSecret(existing, factory.randomBytes, '/value');
    checkValue(existing, value, '/value');
    await requireSoleUse(factory, existing);
    await factory.store.teamSecrets.set(existing.secretName, value);
    const webhook = await reapplied(factory, existing);
    const generated = supplied === undefined ? value : undefined;
    return { next: { webhooks: withWebhook(state, existing, webhook) }, result: { webhook, generated } };
  });
}

/** Deletes a webhook. Its team secret stays, its automations stay and no longer fire, and its UID never comes back. */
export async function deleteWebhook(factory: ManagedFactory, uid: string): Promise<Changed<undefined>> {
  return changeFactory(factory, async state => {
    const existing = requireWebhook(state, uid);
    requireManagedHere(state, () => removeFile(state, existing));
    return { next: { webhooks: state.webhooks.filter(other => other !== existing) }, result: undefined };
  });
}

export function requireWebhook({ webhooks, factory }: AppliedState, uid: string): AppliedWebhook {
  const found = webhooks.find(webhook => webhook.uid === uid);
  if (found) return found;
  throw new Refusal('webhook-unknown', { detail: `the factory ${factory} has no webhook ${uid}` });
}

/** Makes the chosen team secret, or opens the one that there is. Nothing is kept of a value that cannot be used. */
async function keepSecret(
  factory: ManagedFactory,
  definition: WebhookDefinition,
  choice: SecretChoice,
): Promise<TeamSecret | undefined> {
  if (choice.kind === 'new') {
    if (choice.value !== undefined) checkValue(definition, choice.value, '/secret/value');
    await factory.store.teamSecrets.create(choice.name, choice.value).catch(refusedSecret);
  }
  return openSecret(factory, definition, '/secret');
}

function refusedSecret(cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause;
  const { code, message } = cause;
  if (code === 'secret-taken') throw new Refusal('secret-taken', { detail: message }, { cause });
  if (code !== 'secret-invalid') throw cause;
  const mistakes = [{ pointer: '/secret/value', code: 'definition/value', message }];
  throw new Refusal('request-invalid', { mistakes }, { cause });
}

/** The webhook as its definition applies now: held to the present value of its team secret. */
async function reapplied(factory: ManagedFactory, webhook: AppliedWebhook): Promise<AppliedWebhook> {
  const secret = await openSecret(factory, webhook, '/enabled');
  const { name, store } = factory;
  const credential = await makeCredential(name, store.seal, webhook, webhook.uid, secret, webhook);
  return { ...webhook, credential };
}

async function openSecret(
  { store }: ManagedFactory,
  webhook: WebhookDefinition,
  pointer: string,
): Promise<TeamSecret | undefined> {
  const secrets = await store.teamSecrets.open([webhook.secretName]);
  requireUsable(webhook, secrets, pointer);
  return secrets.get(webhook.secretName);
}

function checkValue(webhook: WebhookDefinition, text: string, pointer: string): void {
  const candidate = { name: webhook.secretName, value: { version: '', text } };
  requireUsable(webhook, new Map([[candidate.name, candidate]]), pointer);
}

function requireUsable(
  webhook: WebhookDefinition,
  secrets: ReadonlyMap<string, TeamSecret>,
  pointer: string,
): void {
  const problems = secretProblems({ webhooks: [webhook], locate: () => ({ file: '' }) }, secrets, []);
  if (problems.length === 0) return;
  if (!secrets.has(webhook.secretName)) {
    throw new Refusal('secret-missing', { detail: `there is no team secret ${webhook.secretName}` });
  }
  const mistakes = problems.map(({ code, message, hint }) => ({ pointer, code, message, hint }));
  throw new Refusal('request-invalid', { mistakes });
}

/** A webhook's secret is not changed under the hands of another, which may be another factory's. */
async function requireSoleUse({ store, name }: ManagedFactory, webhook: AppliedWebhook): Promise<void> {
  const secret = (await store.teamSecrets.list()).find(secret => secret.name === webhook.secretName);
  const others = (secret?.usedBy ?? []).filter(use => use.factory !== name || use.webhook !== webhook.name);
  if (others.length === 0) return;
  const here = others.filter(use => use.factory === name).map(use => use.webhook);
  const elsewhere = others.length > here.length ? ['webhooks of other factories'] : [];
  throw new Refusal('secret-shared', {
    detail: `${webhook.secretName} is the team secret of ${[...here, ...elsewhere].join(', ')} too`,
    instead: {
      text: `give it a new value with hookmill secrets set ${webhook.secretName}, then toggle Enabled of each webhook off and on`,
    },
  });
}

function requireFreeName({ webhooks }: AppliedState, name: string): void {
  if (!webhooks.some(webhook => webhook.name === name)) return;
  throw new Refusal('name-taken', { detail: `there is a webhook ${name} already` });
}

function writeFile(state: AppliedState, definition: WebhookDefinition): Instead {
  const file = findDefinitionFile(state, 'webhooks', definition.name) ?? '';
  const text = `make the team secret with hookmill secrets, write ${posix.basename(file)} and apply`;
  return { text, file, yaml: webhookYaml(definition) };
}

function removeFile(state: AppliedState, { name }: AppliedWebhook): Instead {
  const file = findDefinitionFile(state, 'webhooks', name) ?? '';
  return { text: `remove ${posix.basename(file)} and apply: its URL never comes back`, file };
}

function setSecretInstead(state: AppliedState, { secretName }: AppliedWebhook): Instead {
  const taken =
    findManagement(state) === 'repository'
      ? 'it takes effect with the next change of the branch'
      : 'it takes effect when the definition next applies: toggle Enabled off and on, or apply';
  return { text: `give ${secretName} a new value with hookmill secrets set ${secretName}; ${taken}` };
}

function withWebhook(
  { webhooks }: AppliedState,
  existing: AppliedWebhook,
  webhook: AppliedWebhook,
): AppliedWebhook[] {
  return sorted(webhooks.map(other => (other === existing ? webhook : other)));
}

function sorted(webhooks: AppliedWebhook[]): AppliedWebhook[] {
  return webhooks.sort((a, b) => (a.name < b.name ? -1 : 1));
}
