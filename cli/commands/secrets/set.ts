import type { Command } from 'commander';
import { openContext } from '../../context.ts';
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
    'set the value of a team secret, from standard input or a prompt',
    `
The value is all of standard input, without one final newline. Webhooks use it after the next apply. Only this factory
may use a new team secret; hookmill secrets share lets others use it too.

Examples:
  hookmill secrets set GITHUB_WEBHOOK < secret.txt
  pass show stripe/webhook | hookmill secrets set STRIPE_WEBHOOK`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name: string, _, command: Command) => {
      const context = await openContext(command);
      const value = await readSecretValue(`Value of ${name}:`);
      await context.store.teamSecrets.set(name, value, context.factory);
      await recordOwnChange(context, 'setSecret', name);
      const { isShortSecret, secretBytesMin } = await import(
        '../../../operations/checks/secret-diagnostics.ts'
      );
      if (isShortSecret(value)) {
        printStatus(`The value has fewer than ${secretBytesMin} bytes, so somebody could guess it.`);
      }
      printStatus(`Set ${name}. ${nextApplyNote}`);
    });
}
