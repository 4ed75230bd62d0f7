import type { Command } from 'commander';
import { openContext } from '../../context.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill tokens revoke`. */
export function declareTokensRevoke(parent: Command): Command {
  return addCommand(
    parent,
    'revoke',
    'revoke an API token; a running daemon refuses it at once',
    `
Examples:
  hookmill tokens revoke laptop
  hookmill --home /srv/hookmill tokens revoke laptop`,
  )
    .argument('<name>', 'name of the API token')
    .action(async (name: string, _, command: Command) => {
      const { store } = await openContext(command);
      requireHome(store.place);
      const all = { store, factory: null };
      await recordOwnChange(all, 'revokeToken', name, () => store.apiTokens.revoke(name));
      printStatus(`Revoked ${name}: its next request is refused, and its sessions end.`);
    });
}
