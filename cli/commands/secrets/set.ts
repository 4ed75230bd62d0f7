import type { Command } from 'commander';
import { generateSecretValue, type SecretFormat } from '../../../operations/secrets.ts';
import { contextOf, openFactory } from '../../context.ts';
import { readSecretValue } from '../../input/read-secret-value.ts';
import { printData, printStatus } from '../../output.ts';
import { table } from '../../render/table.ts';

export async function set(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  await context.store.teamSecrets.set(name, await readSecretValue(`Value of ${name}:`));
  printStatus(`Set ${name}. ${takesEffect}`);
}

export async function generate(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const { format } = command.opts<{ format: SecretFormat }>();
  const value = await generateSecretValue(openFactory(context), name, format);
  printData(context, { name, value }, () => `${value}\n`);
  printStatus(`Set ${name}; its value is shown this once. ${takesEffect}`);
}

export async function declare(name: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  await context.store.teamSecrets.create(name, undefined);
  printStatus(`Declared ${name}. Its webhooks answer 401 until it is set and they apply again.`);
}

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const secrets = await context.store.teamSecrets.list();
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
  await context.store.teamSecrets.remove(name);
  printStatus(`Removed ${name}.`);
}

const takesEffect = 'Webhooks that use it take it up with the next apply.';
