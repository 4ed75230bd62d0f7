import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { compareNames } from '../../schema/name.ts';
import type { AppliedStates } from '../ports.ts';
import type { Seal, SealedFor } from '../seal.ts';
import { StoreError } from '../store-error.ts';
import { requireSecretName, requireSecretValue, type TeamSecret, type TeamSecrets } from '../team-secrets.ts';
import type { Home } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withLock } from './files/lock.ts';

const secretsFileShape = z.strictObject({
  formatVersion: z.literal(1),
  secrets: z.array(
    z.strictObject({
      name: z.string(),
      updatedAt: z.string(),
      /** Absent while the secret is declared and has no value yet. */
      value: z.strictObject({ version: z.string(), jwe: z.string() }).optional(),
    }),
  ),
});

type SecretsFile = z.output<typeof secretsFileShape>;
type StoredSecret = SecretsFile['secrets'][number];

const noSecrets: SecretsFile = { formatVersion: 1, secrets: [] };

export interface TeamSecretsOptions {
  readonly home: Home;
  readonly seal: Seal;
  /** The states whose webhooks use the secrets. */
  readonly appliedStates: AppliedStates;
  readonly lockTimeoutMs: number;
  readonly now: () => Date;
}

/** The team secrets of a home: `secrets.json`. */
export function openTeamSecrets(options: TeamSecretsOptions): TeamSecrets {
  const { home, seal, appliedStates } = options;
  const read = async () => (await openSecretsFile(home)).data.secrets;
  return {
    set: (name, value) => setSecret(options, name, value),
    create: (name, value) => createSecret(options, name, value),
    remove: name => removeSecret(options, name),
    list: async () => {
      const [secrets, uses] = await Promise.all([read(), readUses(appliedStates)]);
      return secrets.map(({ name, updatedAt, value }) => ({
        name,
        state: value ? 'set' : 'declared',
        updatedAt,
        usedBy: uses.get(name) ?? [],
      }));
    },
    listNames: async () => (await read()).map(({ name }) => name),
    open: async names => {
      const wanted = new Set(names);
      const secrets = (await read()).filter(({ name }) => wanted.has(name));
      const opened = await Promise.all(secrets.map(secret => openSecret(seal, secret)));
      return new Map(opened.map(secret => [secret.name, secret]));
    },
  };
}

async function setSecret(options: TeamSecretsOptions, name: string, value: string): Promise<void> {
  requireSecretName(name);
  requireSecretValue(value);
  await changeSecrets(options, async secrets => {
    const existing = secrets.find(secret => secret.name === name);
    if (existing && (await openOldValue(options.seal, existing)) === value) return undefined;
    return withSecret(secrets, await makeSecret(options, name, value));
  });
}

async function createSecret(
  options: TeamSecretsOptions,
  name: string,
  value: string | undefined,
): Promise<void> {
  requireSecretName(name);
  if (value !== undefined) requireSecretValue(value);
  await changeSecrets(options, async secrets => {
    if (secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-taken', `the team secret ${name} already exists`);
    }
    return withSecret(secrets, await makeSecret(options, name, value));
  });
}

async function removeSecret(options: TeamSecretsOptions, name: string): Promise<void> {
  await changeSecrets(options, async secrets => {
    if (!secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-unknown', `there is no team secret ${name}`);
    }
    const [use] = (await readUses(options.appliedStates)).get(name) ?? [];
    if (use) {
      const message = `the webhook ${use.webhook} of the factory ${use.factory} uses the team secret ${name}; change its definition and apply first`;
      throw new StoreError('secret-in-use', message);
    }
    return secrets.filter(secret => secret.name !== name);
  });
}

async function makeSecret(
  { seal, now }: TeamSecretsOptions,
  name: string,
  value: string | undefined,
): Promise<StoredSecret> {
  const secret = { name, updatedAt: now().toISOString() };
  if (value === undefined) return secret;
  return { ...secret, value: { version: randomUUID(), jwe: await seal.seal(value, toOwner(name)) } };
}

async function openSecret(seal: Seal, { name, value }: StoredSecret): Promise<TeamSecret> {
  if (!value) return { name };
  return { name, value: { version: value.version, text: await seal.open(value.jwe, toOwner(name)) } };
}

async function openOldValue(seal: Seal, { name, value }: StoredSecret): Promise<string | undefined> {
  // A value that another key sealed is replaced like any other value.
  return value && seal.open(value.jwe, toOwner(name)).catch(() => undefined);
}

async function changeSecrets(
  { home, lockTimeoutMs }: TeamSecretsOptions,
  change: (secrets: readonly StoredSecret[]) => Promise<StoredSecret[] | undefined>,
): Promise<void> {
  await withLock(home.secretsFile, lockTimeoutMs, async () => {
    const database = await openSecretsFile(home);
    const secrets = await change(database.data.secrets);
    if (!secrets) return;
    database.data = { formatVersion: 1, secrets };
    await database.write();
  });
}

function openSecretsFile(home: Home) {
  return openJsonFile(home.secretsFile, secretsFileShape, noSecrets);
}

/** The webhooks that use each team secret, over all factories. */
async function readUses(
  appliedStates: AppliedStates,
): Promise<Map<string, { factory: string; webhook: string }[]>> {
  const uses = new Map<string, { factory: string; webhook: string }[]>();
  for (const factory of await appliedStates.listFactories()) {
    const { webhooks } = await appliedStates.read(factory);
    for (const { name, secretName } of webhooks) {
      uses.set(secretName, [...(uses.get(secretName) ?? []), { factory, webhook: name }]);
    }
  }
  return uses;
}

function withSecret(secrets: readonly StoredSecret[], secret: StoredSecret): StoredSecret[] {
  return [...secrets.filter(other => other.name !== secret.name), secret].sort(compareNames);
}

function toOwner(name: string): SealedFor {
  return { use: 'team-secret', name };
}
