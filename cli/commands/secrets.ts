import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import {
  declareSecret,
  listSecrets,
  removeSecret,
  setSecret,
  type TeamSecretStore,
} from '../../store/embedded/team-secrets.ts';
import { type Context, contextOf } from '../context.ts';
import { printData, printStatus } from '../output.ts';
import { readSecretValue } from '../read-secret-value.ts';
import { table } from '../render/table.ts';

export async function set(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  await setSecret(storeOf(context), name, await readSecretValue(`Value of ${name}:`));
  printStatus(`Set ${name}. ${takesEffect}`);
}

export async function generate(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const value = command.opts().format === 'whsec' ? `whsec_${random('base64')}` : random('base64url');
  await setSecret(storeOf(context), name, value);
  printData(context, { name, value }, () => `${value}\n`);
  printStatus(`Set ${name}; its value is shown this once. ${takesEffect}`);
}

export async function declare(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  await declareSecret(storeOf(context), name);
  printStatus(`Declared ${name}. Its webhooks answer 401 until it is set and they apply again.`);
}

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const secrets = await listSecrets(context.home);
  printData(context, secrets, () => {
    if (secrets.length === 0) return 'No team secrets. hookmill secrets set NAME makes one.\n';
    const rows = secrets.map(({ name, state, updatedAt, usedBy }) => {
      const uses = usedBy.map(({ factory, webhook }) => `${factory}/${webhook}`).join(', ');
      return [name, state, updatedAt, uses || '-'];
    });
    return table(['NAME', 'STATE', 'UPDATED', 'USED BY'], rows);
  });
}

export async function remove(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  await removeSecret(storeOf(context), name);
  printStatus(`Removed ${name}.`);
}

const takesEffect = 'Webhooks that use it take it up with the next apply.';

function storeOf({ home, seal, lockTimeoutMs }: Context): TeamSecretStore {
  return { home, seal, lockTimeoutMs, now: () => new Date() };
}

function random(encoding: 'base64' | 'base64url'): string {
  return randomBytes(32).toString(encoding);
}
