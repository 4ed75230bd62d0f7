import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findPrevious } from '../../schema/applied-state.ts';
import { compareNames, hasSecret } from '../../schema/names.ts';
import { findRunningEnd } from '../../schema/stored-times.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import type { ReconcileStatuses } from '../ports/reconcile-statuses.ts';
import type { Seal, SealedFor } from '../ports/seal.ts';
import type { AppliedStates } from '../ports/store.ts';
import { StoreError } from '../ports/store-error.ts';
import {
  type FactoriesAllowed,
  type ReadOutside,
  requireSecretName,
  requireSecretReference,
  requireSecretValue,
  type TeamSecret,
  type TeamSecretInfo,
  type TeamSecrets,
  type TeamSecretUse,
} from '../ports/team-secrets.ts';
import { findOverlapped, type StoredUse } from './overlap.ts';

const secretsShape = z.strictObject({
  formatVersion: z.literal(1),
  secrets: z.array(
    z.strictObject({
      name: z.string(),
      updatedAt: z.string(),
      /** The factories that may use it; absent: all factories. */
      factories: z.array(z.string()).optional(),
      /** The UID of the webhook whose creation made it, until another factory may use it. */
      madeFor: z.string().optional(),
      /** Whether `value` is the reference to where the value is kept. */
      isReference: z.literal(true).optional(),
      /** Absent while the secret is declared and has no value yet. */
      value: z.strictObject({ version: z.string(), jwe: z.string() }).optional(),
      /** The version that stays valid beside the value where it was in force. Applied states have that value. */
      overlap: z.strictObject({ version: z.string(), since: z.string(), until: z.string() }).optional(),
    }),
  ),
});

type Secrets = z.output<typeof secretsShape>;
type StoredSecret = Secrets['secrets'][number];

/** The document with all team secrets. */
export const secretsDocument: StoredDocument<Secrets> = {
  kind: 'secrets',
  shape: secretsShape,
  whenMissing: { formatVersion: 1, secrets: [] },
};

export interface TeamSecretsOptions {
  readonly documents: Documents;
  readonly seal: Seal;
  /** The states whose webhooks use the secrets. */
  readonly appliedStates: AppliedStates;
  /** The repositories that use the secrets. */
  readonly reconcileStatuses: ReconcileStatuses;
  /** The variables that references may name and their commands get. */
  readonly environment: NodeJS.ProcessEnv;
  readonly now: () => Date;
}

/** The team secrets, all in one document. */
export function openTeamSecrets(options: TeamSecretsOptions): TeamSecrets {
  const { documents, seal } = options;
  const read = async () => (await documents.read(secretsDocument)).secrets;
  return {
    set: async (name, value, factory) => {
      requireSecretValue(value);
      await setSecret(options, { name, text: value, factories: toList(factory) });
    },
    refer: async (name, reference, factories) => {
      requireSecretReference(reference);
      const given = { factories: factories ? [...factories] : undefined, isReference: true as const };
      await setSecret(options, { name, text: reference, ...given });
    },
    setOverlapping: (name, value, overlapMs) => setOverlapping(options, name, value, overlapMs),
    endOverlap: name => endOverlap(options, name),
    create: (name, value, factory, madeFor) =>
      createSecret(options, { name, text: value, factories: toList(factory), madeFor }),
    removeMadeFor: uid => removeMadeFor(options, uid),
    share: (name, change) => shareSecret(options, name, change),
    remove: name => removeSecret(options, name),
    list: async () => {
      const [secrets, uses] = await Promise.all([read(), readUses(options)]);
      return Promise.all(
        secrets.map(async secret => {
          const { name, updatedAt, factories = null, overlap } = secret;
          const previousUntil = findRunningEnd(overlap, options.now().getTime());
          return {
            name,
            ...(await describeText(seal, secret)),
            ...(previousUntil !== undefined && { previousUntil }),
            ...{ updatedAt, factories, usedBy: (uses.get(name) ?? []).map(({ use }) => use) },
          };
        }),
      );
    },
    listNames: async factory =>
      (await read()).flatMap(secret => (mayUse(secret, factory) ? [secret.name] : [])),
    open: async (names, factory, readOutside = read => read()) => {
      const wanted = new Set(names);
      const secrets = (await read()).filter(({ name }) => wanted.has(name));
      const opened = await Promise.all(
        secrets.map((secret): Promise<Opened> | Opened =>
          factory === undefined || mayUse(secret, factory)
            ? openSecret(seal, secret)
            : { name: secret.name, forbiddenTo: factory },
        ),
      );
      const resolved = await resolveSecrets(options, opened, readOutside);
      return new Map(resolved.map(secret => [secret.name, secret]));
    },
  };
}

function mayUse({ factories }: StoredSecret, factory: string | undefined): boolean {
  return factory === undefined || !factories || factories.includes(factory);
}

/** The text of a team secret: its value, or the reference to where that is kept. */
interface SecretText extends Pick<StoredSecret, 'name' | 'factories' | 'madeFor' | 'isReference'> {
  readonly text: string | undefined;
}

/** Sets the text of a team secret. Only a new team secret gets the given factories. */
async function setSecret(options: TeamSecretsOptions, given: SecretText): Promise<void> {
  const { name, text, isReference } = given;
  requireSecretName(name);
  await changeSecrets(options, async secrets => {
    const existing = secrets.find(secret => secret.name === name);
    const isSameKind = existing?.isReference === isReference;
    if (existing && isSameKind && (await openText(options.seal, existing)) === text) return undefined;
    const { factories, madeFor } = existing ?? given;
    return withSecret(secrets, await makeSecret(options, { ...given, factories, madeFor }));
  });
}

/** Sets a value beside the one in force. A value that was set, but is in force nowhere yet, keeps its version. */
async function setOverlapping(
  options: TeamSecretsOptions,
  name: string,
  text: string,
  overlapMs: number,
): Promise<string> {
  requireSecretValue(text);
  const nowMs = options.now().getTime();
  const [since = '', until = ''] = [nowMs, nowMs + overlapMs].map(ms => new Date(ms).toISOString());
  await changeSecrets(options, async secrets => {
    const existing = requireSecret(secrets, name);
    requireOwnValue(existing);
    const isSame = (await openText(options.seal, existing)) === text;
    const { factories, madeFor } = existing;
    const next = isSame ? existing : await makeSecret(options, { name, text, factories, madeFor });
    const uses = (await readUses(options)).get(name) ?? [];
    const version = findOverlapped({ name, version: next.value?.version ?? '', uses });
    return withSecret(secrets, { ...next, overlap: { version, since, until } });
  });
  return until;
}

function requireOwnValue({ name, isReference, value }: StoredSecret): void {
  if (isReference) {
    const message = `the value of the team secret ${name} is kept elsewhere, so hookmill cannot keep the one before. Change it there, and apply`;
    throw new StoreError('secret-overlap', message);
  }
  if (!value) {
    const message = `the team secret ${name} has no value that could stay valid. Set it without --overlap`;
    throw new StoreError('secret-overlap', message);
  }
}

async function endOverlap(options: TeamSecretsOptions, name: string): Promise<boolean> {
  let had = false;
  await changeSecrets(options, async secrets => {
    const { overlap, ...secret } = requireSecret(secrets, name);
    had = overlap !== undefined;
    return had ? withSecret(secrets, secret) : undefined;
  });
  return had;
}

async function createSecret(options: TeamSecretsOptions, given: SecretText): Promise<void> {
  const { name, text } = given;
  requireSecretName(name);
  if (text !== undefined) requireSecretValue(text);
  await changeSecrets(options, async secrets => {
    if (secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-taken', `the team secret ${name} already exists`);
    }
    return withSecret(secrets, await makeSecret(options, given));
  });
}

function toList(factory: string | undefined): string[] | undefined {
  return factory === undefined ? undefined : [factory];
}

async function shareSecret(
  options: TeamSecretsOptions,
  name: string,
  change: (factories: FactoriesAllowed) => FactoriesAllowed,
): Promise<void> {
  await changeSecrets(options, async secrets => {
    const { factories: before = null, ...secret } = requireSecret(secrets, name);
    const given = change(before);
    const factories = given && [...new Set(given)].sort();
    if (JSON.stringify(factories) === JSON.stringify(before)) return undefined;
    if (!factories) return withSecret(secrets, secret);
    await requireUnused(options, name, use => !factories.includes(use.factory));
    return withSecret(secrets, { ...secret, factories });
  });
}

async function removeSecret(options: TeamSecretsOptions, name: string): Promise<void> {
  await changeSecrets(options, async secrets => {
    const existing = requireSecret(secrets, name);
    await requireUnused(options, name, () => true);
    return secrets.filter(secret => secret !== existing);
  });
}

async function removeMadeFor(options: TeamSecretsOptions, uid: string): Promise<void> {
  await changeSecrets(options, async secrets => {
    const made = secrets.find(({ madeFor }) => madeFor === uid);
    if (made?.factories?.length !== 1 || (await readUses(options)).has(made.name)) return undefined;
    return secrets.filter(secret => secret !== made);
  });
}

function requireSecret(secrets: readonly StoredSecret[], name: string): StoredSecret {
  const found = secrets.find(secret => secret.name === name);
  if (!found) throw new StoreError('secret-unknown', `there is no team secret ${name}`);
  return found;
}

async function requireUnused(
  options: TeamSecretsOptions,
  name: string,
  isMeant: (use: TeamSecretUse) => boolean,
): Promise<void> {
  const { use } = (await readUses(options)).get(name)?.find(({ use }) => isMeant(use)) ?? {};
  if (!use) return;
  const [user, next] =
    use.webhook === undefined
      ? ['repository', 'change its credential and reconcile']
      : [`webhook ${use.webhook}`, 'change its definition and apply'];
  const message = `the ${user} of the factory ${use.factory} uses the team secret ${name}; ${next} first`;
  throw new StoreError('secret-in-use', message);
}

async function makeSecret(
  { seal, now }: TeamSecretsOptions,
  { name, text, factories, madeFor, isReference }: SecretText,
): Promise<StoredSecret> {
  const updatedAt = now().toISOString();
  const secret = {
    ...{ name, updatedAt, ...(factories && { factories }), ...(madeFor && { madeFor }) },
    ...(isReference && { isReference }),
  };
  if (text === undefined) return secret;
  return { ...secret, value: { version: randomUUID(), jwe: await seal.seal(text, teamSecretOwner(secret)) } };
}

interface Opened extends TeamSecret {
  /** The reference to the value, if it must still be read. */
  readonly from?: string;
}

async function openSecret(seal: Seal, secret: StoredSecret): Promise<Opened> {
  const { name, value, overlap, isReference } = secret;
  if (!value) return { name };
  const text = await seal.open(value.jwe, teamSecretOwner(secret));
  if (isReference) return { name, from: text };
  return { name, value: { version: value.version, text }, ...(overlap && { overlap }) };
}

/** Reads the values that are kept elsewhere. Nothing stores them, so their versions are made of them and the key. */
async function resolveSecrets(
  { seal, environment }: TeamSecretsOptions,
  opened: readonly Opened[],
  readOutside: ReadOutside | null,
): Promise<readonly TeamSecret[]> {
  const references = opened.flatMap(({ from }) => from ?? []);
  if (references.length === 0) return opened;
  if (!readOutside) {
    return opened.map(({ from, ...secret }) => (from === undefined ? secret : { ...secret, isUnread: true }));
  }
  const { resolveReferences } = await import('./resolve-references.ts');
  const [key, resolved] = [
    (await seal.deriveKeys('versions of team secrets'))[0],
    await readOutside(() => resolveReferences(references, environment)),
  ];
  const byReference = new Map(references.map((reference, index) => [reference, resolved[index]]));
  return opened.map(({ from, ...secret }): TeamSecret => {
    const found = from === undefined ? undefined : byReference.get(from);
    if (from === undefined || !found) return secret;
    if ('reason' in found) {
      const message = `the team secret ${secret.name} cannot be read from ${from}: ${found.reason}`;
      return { ...secret, unresolved: { message, hint: found.hint } };
    }
    const version = createHmac('sha256', key).update(`${secret.name}\0${found.text}`).digest('base64url');
    return { ...secret, value: { version, text: found.text } };
  });
}

/** Describes what a team secret has, for lists. */
async function describeText(
  seal: Seal,
  secret: StoredSecret,
): Promise<Pick<TeamSecretInfo, 'state' | 'from'>> {
  if (!secret.isReference) return { state: secret.value ? 'set' : 'declared' };
  return { state: 'reference', from: (await openText(seal, secret)) ?? null };
}

/** Opens the value or the reference; undefined if there is none, or if another key sealed it. */
async function openText(seal: Seal, secret: StoredSecret): Promise<string | undefined> {
  return secret.value && seal.open(secret.value.jwe, teamSecretOwner(secret)).catch(() => undefined);
}

async function changeSecrets(
  { documents }: TeamSecretsOptions,
  change: (secrets: readonly StoredSecret[]) => Promise<StoredSecret[] | undefined>,
): Promise<void> {
  await documents.change(secretsDocument, async stored => {
    const secrets = await change(stored.secrets);
    return { next: secrets && { ...stored, secrets }, result: undefined };
  });
}

/** The webhooks and repositories that use each team secret, over all factories. */
async function readUses({
  appliedStates,
  reconcileStatuses,
  now,
}: TeamSecretsOptions): Promise<Map<string, StoredUse[]>> {
  const uses = new Map<string, StoredUse[]>();
  const add = (secretName: string, use: StoredUse) =>
    uses.set(secretName, [...(uses.get(secretName) ?? []), use]);
  const nowMs = now().getTime();
  for (const factory of await appliedStates.listFactories()) {
    const { webhooks } = await appliedStates.read(factory);
    for (const webhook of webhooks.filter(hasSecret)) {
      const { name, secretName, authMode, signatureScheme } = webhook;
      const previousUntil = findRunningEnd(findPrevious(webhook), nowMs);
      const use = {
        ...{ factory, webhook: name, authMode },
        ...(signatureScheme !== undefined && { signatureScheme }),
        ...(previousUntil !== undefined && { previousUntil }),
      };
      add(secretName, { use, webhook });
    }
    for (const { name, sender } of webhooks)
      if (sender) add(sender.credentialSecret, { use: { factory, webhook: name, isCredential: true } });
    const { followed } = await reconcileStatuses.read(factory);
    if (followed?.credential) add(followed.credential.secretName, { use: { factory } });
  }
  return uses;
}

function withSecret(secrets: readonly StoredSecret[], secret: StoredSecret): StoredSecret[] {
  return [...secrets.filter(other => other.name !== secret.name), secret].sort(compareNames);
}

/** The owner of the sealed text of a team secret. A reference has another one, so that no value can be made one. */
export function teamSecretOwner({
  name,
  isReference,
}: Pick<StoredSecret, 'name' | 'isReference'>): SealedFor {
  return { use: isReference ? 'secret-reference' : 'team-secret', name };
}
