import type { Command } from 'commander';
import { requireSecretName } from '../../../store/team-secrets.ts';
import { openContext } from '../../context.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill secrets declare`. */
export function declareSecretsDeclare(parent: Command): Command {
  return addCommand(
    parent,
    'declare',
    'create a team secret without a value',
    `
Use it for a provider that issues its secret only after it has the URL. The webhook can then be applied, and answers
401 until you set the secret and apply again.

Examples:
  hookmill secrets declare STRIPE_WEBHOOK
  hookmill secrets declare STRIPE_WEBHOOK && hookmill apply`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name: string, _, command: Command) => {
      requireSecretName(name);
      const context = await openContext(command);
      const { store, factory } = context;
      await recordOwnChange(context, 'declareSecret', name, () =>
        store.teamSecrets.create(name, undefined, factory),
      );
      printStatus(`Declared ${name}. Its webhooks answer 401 until you set it and apply again.`);
    });
}
