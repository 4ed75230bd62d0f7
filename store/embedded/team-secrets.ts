import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { secretNamePattern, secretNameRule } from '../../schema/secret-name.ts';
import type { Seal, SealedFor } from '../sealing.ts';
import { StoreError } from '../store-error.ts';
import { readAppliedState } from './applied-states.ts';
import { type Home, listFactories } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withLock } from './files/lock.ts';

const valueBytesMax = 8 * 1024;

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

/** What may be told of a team secret: never its value. */
export interface TeamSecretInfo {
  readonly name: string;
  readonly state: 'set' | 'declared';
  readonly updatedAt: string;
  readonly usedBy: readonly { readonly factory: string; readonly webhook: string }[];
}

/** A team secret as an apply sees it. The version changes with the value; a declared one has neither. */
export interface TeamSecret {
  readonly name: string;
  readonly value?: { readonly version: string; readonly text: string };
}

export interface TeamSecretStore {
  readonly home: Home;
  readonly seal: Seal;
  readonly lockTimeoutMs: number;
  readonly now: () => Date;
}

/** Gives a team secret a value. The same value again is no change. */
export async function setSecret(store: TeamSecretStore, name: string, value: string): Promise<void> {
  checkName(name);
  checkValue(value);
  await changeSecrets(store, async secrets => {
    const existing = secrets.find(secret => secret.name === name);
    if (existing?.value && (await currentValue(store.seal, existing)) === value) return undefined;
    const jwe = await store.seal.seal(value, sealedFor(name));
    return withSecret(secrets, {
      name,
      updatedAt: store.now().toISOString(),
      value: { version: randomUUID(), jwe },
    });
  });
}

/** Makes a name that webhooks can refer to before the provider has issued the value. Fails with `secret-in-use`. */
export async function declareSecret(store: TeamSecretStore, name: string): Promise<void> {
  await createSecret(store, name, undefined);
}

/** Makes a team secret that is not there yet, in one step. Fails with `secret-in-use` or `secret-invalid`. */
export async function createSecret(
  store: TeamSecretStore,
  name: string,
  text: string | undefined,
): Promise<void> {
  checkName(name);
  if (text !== undefined) checkValue(text);
  await changeSecrets(store, async secrets => {
    if (secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-in-use', `the team secret ${name} exists already`);
    }
    const updatedAt = store.now().toISOString();
    if (text === undefined) return withSecret(secrets, { name, updatedAt });
    const jwe = await store.seal.seal(text, sealedFor(name));
    return withSecret(secrets, { name, updatedAt, value: { version: randomUUID(), jwe } });
  });
}

/** Fails with `secret-in-use` while a webhook of any factory of the home refers to it. */
export async function removeSecret(store: TeamSecretStore, name: string): Promise<void> {
  await changeSecrets(store, async secrets => {
    if (!secrets.some(secret => secret.name === name)) {
      throw new StoreError('secret-unknown', `there is no team secret ${name}`);
    }
    const [use] = (await secretUses(store.home)).get(name) ?? [];
    if (use) {
      const message = `the team secret ${name} is used by the webhook ${use.webhook} of the factory ${use.factory}; change its definition and apply first`;
      throw new StoreError('secret-in-use', message);
    }
    return secrets.filter(secret => secret.name !== name);
  });
}

/** All team secrets by name, without their values. */
export async function listSecrets(home: Home): Promise<TeamSecretInfo[]> {
  const [{ secrets }, uses] = await Promise.all([readSecrets(home), secretUses(home)]);
  return secrets.map(({ name, updatedAt, value }) => ({
    name,
    state: value ? 'set' : 'declared',
    updatedAt,
    usedBy: uses.get(name) ?? [],
  }));
}

/** The names of all team secrets, by name. */
export async function secretNames(home: Home): Promise<string[]> {
  return (await readSecrets(home)).secrets.map(({ name }) => name);
}

/** Those of the named team secrets that exist, opened. */
export async function openSecrets(
  home: Home,
  seal: Seal,
  names: Iterable<string>,
): Promise<Map<string, TeamSecret>> {
  const wanted = new Set(names);
  const { secrets } = await readSecrets(home);
  const opened = secrets
    .filter(secret => wanted.has(secret.name))
    .map(async ({ name, value }): Promise<[string, TeamSecret]> => {
      if (!value) return [name, { name }];
      const text = await seal.open(value.jwe, sealedFor(name));
      return [name, { name, value: { version: value.version, text } }];
    });
  return new Map(await Promise.all(opened));
}

async function changeSecrets(
  { home, lockTimeoutMs }: TeamSecretStore,
  change: (secrets: readonly StoredSecret[]) => Promise<StoredSecret[] | undefined>,
): Promise<void> {
  await withLock(home.secretsFile, lockTimeoutMs, async () => {
    const database = await openJsonFile(home.secretsFile, secretsFileShape, noSecrets);
    const secrets = await change(database.data.secrets);
    if (!secrets) return;
    database.data = { formatVersion: 1, secrets };
    await database.write();
  });
}

const noSecrets: SecretsFile = { formatVersion: 1, secrets: [] };

async function readSecrets(home: Home): Promise<SecretsFile> {
  return (await openJsonFile(home.secretsFile, secretsFileShape, noSecrets)).data;
}

async function secretUses(home: Home): Promise<Map<string, { factory: string; webhook: string }[]>> {
  const uses = new Map<string, { factory: string; webhook: string }[]>();
  for (const factory of await listFactories(home)) {
    const { webhooks } = await readAppliedState(home, factory);
    for (const { name, secretName } of webhooks) {
      uses.set(secretName, [...(uses.get(secretName) ?? []), { factory, webhook: name }]);
    }
  }
  return uses;
}

function withSecret(secrets: readonly StoredSecret[], secret: StoredSecret): StoredSecret[] {
  return [...secrets.filter(other => other.name !== secret.name), secret].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

async function currentValue(seal: Seal, secret: StoredSecret): Promise<string | undefined> {
  if (!secret.value) return undefined;
  // A value that another key sealed is replaced like any other old value.
  return seal.open(secret.value.jwe, sealedFor(secret.name)).catch(() => undefined);
}

function sealedFor(name: string): SealedFor {
  return { use: 'team-secret', name };
}

function checkName(name: string): void {
  if (secretNamePattern.test(name)) return;
  const message = `"${name}" cannot name a team secret; use ${secretNameRule}`;
  throw new StoreError('secret-invalid', message);
}

function checkValue(value: string): void {
  if (value.trim() === '') throw new StoreError('secret-invalid', 'a team secret cannot be empty');
  if (Buffer.byteLength(value) > valueBytesMax) {
    throw new StoreError('secret-invalid', `a team secret has at most ${valueBytesMax} bytes`);
  }
}
