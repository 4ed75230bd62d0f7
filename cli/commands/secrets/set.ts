import type { Command } from 'commander';
import {
  requireSecretName,
  requireSecretReference,
  requireSecretValue,
} from '../../../store/team-secrets.ts';
import { type Context, openContext } from '../../context.ts';
import { readSecretValue } from '../../input/read-secret-value.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { addCommand } from '../add-command.ts';
import { nextApplyNote } from './next-apply-note.ts';

/** Declares `hookmill secrets set`. */
export function declareSecretsSet(parent: Command): Command {
  return addCommand(
    parent,
    'set',
    'set the value of a team secret, from standard input or a prompt, or say where it is kept',
    `
The value is all of standard input, without one final newline. Webhooks use it after the next apply. Only this factory
may use a new team secret; hookmill secrets share lets others use it too.

With --from, hookmill keeps only the reference, and each plan and apply reads the value: from an environment variable
(env:NAME), a file (file:/run/secrets/name), or the output of a command that is run without a shell
(exec:program argument, or exec:["program", "an argument with spaces"]). The process that applies reads it: this command
line or the daemon.

Examples:
  hookmill secrets set GITHUB_WEBHOOK < secret.txt
  pass show stripe/webhook | hookmill secrets set STRIPE_WEBHOOK
  hookmill secrets set GITHUB_WEBHOOK --from 'exec:vault kv get -field=value secret/github-webhook'`,
  )
    .argument('<name>', 'name of the team secret')
    .option('--from <reference>', 'where the value is kept, instead of the value')
    .action(async (name: string, { from }: { from?: string }, command: Command) => {
      requireSecretName(name);
      const context = await openContext(command);
      const value =
        from === undefined ? await setValue(context, name) : await setReference(context, name, from);
      if (value === undefined) return;
      const { isShortSecret, secretBytesMin } = await import(
        '../../../operations/checks/secret-diagnostics.ts'
      );
      if (isShortSecret(value)) {
        printStatus(`The value has fewer than ${secretBytesMin} bytes, so somebody could guess it.`);
      }
      printStatus(`Set ${name}. ${nextApplyNote}`);
    });
}

async function setValue(context: Context, name: string): Promise<string> {
  const { store, factory } = context;
  const value = await readSecretValue(`Value of ${name}:`);
  requireSecretValue(value);
  await recordOwnChange(context, 'setSecret', name, () => store.teamSecrets.set(name, value, factory));
  return value;
}

/**
 * Sets the reference, and reads the value once. Returns undefined if it cannot be read here; the daemon may still be
 * able to.
 */
async function setReference(context: Context, name: string, from: string): Promise<string | undefined> {
  const { store, factory } = context;
  requireSecretReference(from);
  await recordOwnChange(context, 'setSecret', name, () => store.teamSecrets.refer(name, from, [factory]));
  const { value, unresolved } = (await store.teamSecrets.open([name])).get(name) ?? {};
  if (unresolved) printStatus(`Set ${name}. For now, ${unresolved.message}; ${unresolved.hint}.`);
  return value?.text;
}
