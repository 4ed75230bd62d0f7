import type { Command } from 'commander';
import { createToken } from '../../../operations/tokens.ts';
import type { Permission } from '../../../schema/permission.ts';
import { contextOf, openFactory } from '../../context.ts';
import { printData, printStatus } from '../../output.ts';
import { table } from '../../render/table.ts';

interface CreateOptions {
  readonly permission: Permission;
  readonly allFactories?: true;
}

/** Makes an API token and prints it, this once. */
export async function create(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const { permission, allFactories } = command.opts<CreateOptions>();
  const factory = allFactories ? null : context.factory;
  const token = await createToken(openFactory(context), { name, factory, permission });
  printData(context, { name, factory, permission, token }, () => `${token}\n`);
  const scope = factory === null ? 'all factories' : `the factory ${factory}`;
  printStatus(`Made ${name}, which may ${permission} ${scope}; it is shown this once.`);
}

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const data = (await context.store.apiTokens.list()).map(({ sha256: _, ...told }) => told);
  printData(context, data, () => {
    if (data.length === 0) return 'No API tokens. hookmill tokens create NAME makes one.\n';
    const rows = data.map(({ name, factory, permission, createdAt, lastUsedAt }) => {
      return [name, factory ?? 'all', permission, createdAt, lastUsedAt ?? 'never'];
    });
    return table(['NAME', 'FACTORY', 'PERMISSION', 'CREATED', 'LAST USED'], rows);
  });
}

export async function revoke(name: string, command: Command): Promise<void> {
  const { store } = await contextOf(command);
  await store.apiTokens.revoke(name);
  printStatus(`Revoked ${name}: its next request is refused, and its sessions are over.`);
}
