import type { z } from 'zod';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Permission } from '../../schema/grant.ts';
import { compareNames } from '../../schema/names.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { secretsAnswer } from '../../schema/views/access.ts';
import { describeScheme } from '../../signatures/schemes.ts';
import type { Store } from '../../store/ports/store.ts';
import {
  type FactoriesAllowed,
  isOnlyFor,
  type ReadOutside,
  type TeamSecrets,
} from '../../store/ports/team-secrets.ts';
import type { SecretWebhook } from '../checks/secret-diagnostics.ts';
import type { Factory, OpenFactory } from '../factory.ts';
import { encodeSecret, secretRandomBytes } from './new-webhook-secret.ts';

/** The formats of a generated secret: URL-safe text, or the format of Standard Webhooks. */
export type SecretFormat = 'token' | 'whsec';

/**
 * Sets a team secret to a random value of 256 bits and returns it. It cannot be read later. With `overlapMs`, the value
 * before it stays valid for that time: also returns until when, and fails as `TeamSecrets.setOverlapping` does.
 */
export async function generateSecretValue(
  { name: factory, store, randomBytes }: Pick<Factory, 'name' | 'store' | 'randomBytes'>,
  name: string,
  format: SecretFormat,
  overlapMs?: number,
): Promise<{ readonly value: string; readonly previousUntil?: string }> {
  const scheme = format === 'whsec' ? describeScheme('standard-webhooks') : undefined;
  const value = encodeSecret(scheme, randomBytes(secretRandomBytes));
  if (overlapMs !== undefined) {
    return { value, previousUntil: await store.teamSecrets.setOverlapping(name, value, overlapMs) };
  }
  await store.teamSecrets.set(name, value, factory);
  return { value };
}

/** A reference that the operator declares in the daemon's configuration file, with all factories that may use it. */
interface DeclaredReference {
  readonly name: string;
  readonly from: string;
  readonly factories: readonly string[];
}

/**
 * Stores declared references, so that every command sees them. They replace earlier values and references of the same
 * names. Fails with `secret-in-use` if a factory uses one that it may no longer use.
 */
export async function storeReferences(
  { teamSecrets }: Pick<Store, 'teamSecrets'>,
  declared: readonly DeclaredReference[],
): Promise<void> {
  for (const { name, from, factories } of declared) {
    await teamSecrets.refer(name, from, factories);
    await teamSecrets.share(name, () => factories);
  }
}

/** Finds the names of declared references that are not stored yet, or differ from the stored ones. */
export async function findNewReferences(
  { teamSecrets }: Pick<Store, 'teamSecrets'>,
  declared: readonly DeclaredReference[],
): Promise<string[]> {
  const stored = new Map((await teamSecrets.list()).map(secret => [secret.name, secret]));
  const isNew = ({ name, from, factories }: DeclaredReference) => {
    const before = stored.get(name);
    if (before?.from !== from || !before.factories) return true;
    const wanted = new Set(factories);
    return wanted.size !== before.factories.length || before.factories.some(name => !wanted.has(name));
  };
  return declared.filter(isNew).map(({ name }) => name);
}

/** Lets factories use a team secret, besides those that already may. `only`: no others any more. */
export async function shareSecret(
  { teamSecrets }: Pick<Store, 'teamSecrets'>,
  name: string,
  factories: FactoriesAllowed,
  only: boolean,
): Promise<void> {
  await teamSecrets.share(name, before => {
    if (only || !factories) return factories;
    return before && [...before, ...factories];
  });
}

type FactorySecrets = z.output<typeof secretsAnswer>['secrets'];

/**
 * Lists the team secrets that a factory may use, and those that its webhooks name and that do not exist; without the
 * manage permission, only those that it uses.
 */
export async function listFactorySecrets(
  { name: factory, store, readState }: Pick<OpenFactory, 'name' | 'store' | 'readState'>,
  permission: Permission,
): Promise<FactorySecrets> {
  const known = await store.teamSecrets.list();
  const { wantedSecrets, followed } = await store.reconcileStatuses.read(factory);
  const allowed = known.filter(({ factories }) => factories === null || factories.includes(factory));
  const secrets = allowed.map(({ name, state, from, previousUntil, updatedAt, usedBy }) => {
    const here = usedBy.filter(use => use.factory === factory);
    const usedElsewhere = usedBy.some(use => use.factory !== factory);
    const more = {
      ...(from !== undefined && { from }),
      ...(previousUntil !== undefined && { previousUntil }),
    };
    const uses = {
      usedBy: here.flatMap(({ webhook }) => webhook ?? []),
      usedByBranch: here.some(({ webhook }) => webhook === undefined),
    };
    return { name, state, ...more, updatedAt, ...uses, usedElsewhere };
  });
  const names = new Set(known.map(({ name }) => name));
  const named = [...listNamedSecrets((await readState()).webhooks), ...wantedSecrets];
  const branchSecret = followed?.credential?.secretName;
  const missing = [...new Set([...named.map(({ name }) => name), ...(branchSecret ? [branchSecret] : [])])]
    .filter(name => !names.has(name))
    .map(name => {
      const usedBy = [
        ...new Set(named.filter(use => use.name === name).map(({ webhook }) => webhook)),
      ].sort();
      const uses = { usedBy, usedByBranch: name === branchSecret, usedElsewhere: false };
      return { name, state: 'missing' as const, updatedAt: null, ...uses };
    });
  const listed = [...secrets, ...missing].sort(compareNames);
  return permission === 'manage' ? listed : listed.filter(({ usedBy }) => usedBy.length > 0);
}

/** The team secrets that webhooks name, each with the webhook. */
export function listNamedSecrets(
  webhooks: readonly Pick<WebhookDefinition, 'name' | 'secretName' | 'sender'>[],
): { name: string; webhook: string }[] {
  return webhooks.flatMap(({ name: webhook, secretName, sender }) =>
    [secretName, sender?.credentialSecret].flatMap(name => (name === undefined ? [] : { name, webhook })),
  );
}

/** The store for a caller who lets values that are kept elsewhere be read in this way; null: who must not cause that. */
export function withSecretsRead(store: Store, readOutside: ReadOutside | null): Store {
  const open: TeamSecrets['open'] = (names, factory) => store.teamSecrets.open(names, factory, readOutside);
  return { ...store, teamSecrets: { ...store.teamSecrets, open } };
}

/** Refuses to replace a team secret for one webhook, if the value is kept elsewhere, if another webhook uses the team secret too, or if another factory may. */
export async function requireSoleUse(
  { store, name }: Pick<Factory, 'store' | 'name'>,
  webhook: SecretWebhook,
): Promise<void> {
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
      text: `set a new value with \`${renderSecretCommand(webhook)}\`, then disable and enable each webhook`,
    },
  });
}
