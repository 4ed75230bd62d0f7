import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { compareNames } from '../../schema/name.ts';
import type { AppliedStates } from '../ports.ts';
import type { ReconcileStatuses } from '../reconcile-statuses.ts';
import type { Seal, SealedFor } from '../seal.ts';
import { StoreError } from '../store-error.ts';
import {
  type FactoriesAllowed,
  requireSecretName,
  requireSecretValue,
  type TeamSecret,
  type TeamSecrets,
  type TeamSecretUse,
} from '../team-secrets.ts';
import type { Documents, StoredDocument } from './documents.ts';

const secretsShape = z.strictObject({
  formatVersion: z.literal(1),
  secrets: z.array(
    z.strictObject({
      name: z.string(),
      updatedAt: z.string(),
      /** The factories that may use it; absent: all factories. */
      factories: z.array(z.string()).optional(),
      /** Absent while the secret is declared and has no value yet. */
      value: z.strictObject({ version: z.string(), jwe: z.string() }).optional(),
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
  readonly now: () => Date;
}

/** The team secrets, all in one document. */
export function openTeamSecrets(options: TeamSecretsOptions): TeamSecrets {
  const { documents, seal } = options;
  const read = async () => (await documents.read(secretsDocument)).secrets;
  return {
    set: (name, value, factory) => setSecret(options, name, value, factory),
    create: (name, value, factory) => createSecret(options, name, value, factory),
    share: (name, change) => shareSecret(options, name, change),
    remove: name => removeSecret(options, name),
    list: async () => {
      const [secrets, uses] = await Promise.all([read(), readUses(options)]);
      return secrets.map(({ name, updatedAt, value, factories = null }) => ({
        name,
        state: value ? 'set' : 'declared',
        updatedAt,
        factories,
        usedBy: uses.get(name) ?? [],
      }));
    },
    listNames: async factory =>
      (await read()).flatMap(secret => (mayUse(secret, factory) ? [secret.name] : [])),
    open: async (names, factory) => {
      const wanted = new Set(names);
      const secrets = (await read()).filter(({ name }) => wanted.has(name));
      const opened = await Promise.all(
        secrets.map((secret): Promise<TeamSecret> | TeamSecret =>
          factory === undefined || mayUse(secret, factory)
            ? openSecret(seal, secret)
            : { name: secret.name, forbiddenTo: factory },
        ),
      );
      return new Map(opened.map(secret => [secret.name, secret]));
    },
  };
}

function mayUse({ factories }: StoredSecret, factory: string | undefined): boolean {
  return factory === undefined || !factories || factories.includes(factory);
}

async function setSecret(
  options: TeamSecretsOptions,
  name: string,
  value: string,
  factory: string | undefined,
): Promise<void> {
  requireSecretName(name);
  requireSecretValue(value);
  await changeSecrets(options, async secrets => {
    const existing = secrets.find(secret => secret.name === name);
    if (existing && (await openOldValue(options.seal, existing)) === value) return undefined;
    const factories = existing ? existing.factories : toList(factory);
    return withSecret(secrets, await makeSecret(options, { name, value, factories }));
  });
}

async function createSecret(
  options: TeamSecretsOptions,
  name: string,
  value: string | undefined,
  factory: string | undefined,
): Promise<void> {
  requireSecretName(name);
  if (value !== undefined) requireSecretValue(value);
  await changeSecrets(options, async secrets => {
    if (secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-taken', `the team secret ${name} already exists`);
    }
    return withSecret(secrets, await makeSecret(options, { name, value, factories: toList(factory) }));
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
    const factories = change(before);
    if (!factories) return withSecret(secrets, secret);
    await requireUnused(options, name, use => !factories.includes(use.factory));
    return withSecret(secrets, { ...secret, factories: [...new Set(factories)].sort() });
  });
}

async function removeSecret(options: TeamSecretsOptions, name: string): Promise<void> {
  await changeSecrets(options, async secrets => {
    const existing = requireSecret(secrets, name);
    await requireUnused(options, name, () => true);
    return secrets.filter(secret => secret !== existing);
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
  const use = (await readUses(options)).get(name)?.find(isMeant);
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
  {
    name,
    value,
    factories,
  }: Pick<StoredSecret, 'name' | 'factories'> & { readonly value: string | undefined },
): Promise<StoredSecret> {
  const secret = { name, updatedAt: now().toISOString(), ...(factories && { factories }) };
  if (value === undefined) return secret;
  return { ...secret, value: { version: randomUUID(), jwe: await seal.seal(value, teamSecretOwner(name)) } };
}

async function openSecret(seal: Seal, { name, value }: StoredSecret): Promise<TeamSecret> {
  if (!value) return { name };
  return { name, value: { version: value.version, text: await seal.open(value.jwe, teamSecretOwner(name)) } };
}

async function openOldValue(seal: Seal, { name, value }: StoredSecret): Promise<string | undefined> {
  // A value that another key sealed is replaced like any other value.
  return value && seal.open(value.jwe, teamSecretOwner(name)).catch(() => undefined);
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
}: TeamSecretsOptions): Promise<Map<string, TeamSecretUse[]>> {
  const uses = new Map<string, TeamSecretUse[]>();
  const add = (secretName: string, use: TeamSecretUse) =>
    uses.set(secretName, [...(uses.get(secretName) ?? []), use]);
  for (const factory of await appliedStates.listFactories()) {
    const { webhooks } = await appliedStates.read(factory);
    for (const { name, secretName, authMode, signatureScheme } of webhooks) {
      add(secretName, {
        factory,
        webhook: name,
        authMode,
        ...(signatureScheme !== undefined && { signatureScheme }),
      });
    }
    const { followed } = await reconcileStatuses.read(factory);
    if (followed?.credential) add(followed.credential.secretName, { factory });
  }
  return uses;
}

function withSecret(secrets: readonly StoredSecret[], secret: StoredSecret): StoredSecret[] {
  return [...secrets.filter(other => other.name !== secret.name), secret].sort(compareNames);
}

/** The owner of the sealed value of a team secret. */
export function teamSecretOwner(name: string): SealedFor {
  return { use: 'team-secret', name };
}
