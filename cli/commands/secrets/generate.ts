import { type Command, Option } from 'commander';
import type { SecretFormat } from '../../../operations/secrets.ts';
import { requireSecretName } from '../../../store/team-secrets.ts';
import { openContext, toOpenFactory } from '../../context.ts';
import { printData, printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { addCommand } from '../add-command.ts';
import { nextApplyNote } from './next-apply-note.ts';

/** Declares `hookmill secrets generate`. */
export function declareSecretsGenerate(parent: Command): Command {
  return addCommand(
    parent,
    'generate',
    'set a team secret to a random value and print it, only once',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets generate BILLING_EVENTS --format whsec`,
  )
    .argument('<name>', 'name of the team secret')
    .addOption(
      new Option('--format <format>', 'token: URL-safe text; whsec: the format of Standard Webhooks')
        .choices(['token', 'whsec'])
        .default('token'),
    )
    .action(async (name: string, { format }: { format: SecretFormat }, command: Command) => {
      requireSecretName(name);
      const context = await openContext(command);
      const { generateSecretValue } = await import('../../../operations/secrets.ts');
      const value = await recordOwnChange(context, 'generateSecret', name, () =>
        generateSecretValue(toOpenFactory(context), name, format),
      );
      printData(context.output, { name, value }, () => `${value}\n`);
      printStatus(`Set ${name}; its value is shown only once. ${nextApplyNote}`);
    });
}
