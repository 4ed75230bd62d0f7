import type { Command } from 'commander';
import { openContext } from '../../context.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill secrets remove`. */
export function declareSecretsRemove(parent: Command): Command {
  return addCommand(
    parent,
    'remove',
    'remove a team secret that no webhook uses',
    `
Examples:
  hookmill secrets remove OLD_TOKEN
  hookmill --home /srv/hookmill secrets remove OLD_TOKEN`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name: string, _, command: Command) => {
      const context = await openContext(command);
      const { place, teamSecrets } = context.store;
      requireHome(place);
      await recordOwnChange(context, 'removeSecret', name, () => teamSecrets.remove(name));
      printStatus(`Removed ${name}.`);
    });
}
