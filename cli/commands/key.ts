import { openContext } from '../context.ts';
import { printData } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill key`. */
export function declareKey(command: CliCommand): void {
  command
    .explain(`change the key that seals team secrets and credentials

Examples:
  hookmill key rotate
  hookmill key rotate --home /var/lib/hookmill -o json`)
    .subcommands({ rotate });
}

function rotate(command: CliCommand): void {
  command
    .explain(`replace the key, and seal every value again with the new one

The daemon may go on, and senders notice nothing. If the command is stopped, values open with either key: run it again, and
it goes on. Backups made before open only with the old key: keep a copy of it as long as you keep them.

A home with a key file gets a new key file. Otherwise make a key (openssl rand -base64 32), set HOOKMILL_KEY to it and
HOOKMILL_OLD_KEY to the one before, and restart all daemons with both. Then run this command with both, and restart the
daemons without HOOKMILL_OLD_KEY. HOOKMILL_KEY_FILE and HOOKMILL_OLD_KEY_FILE can name files with the keys instead.

Examples:
  hookmill key rotate --home /var/lib/hookmill
  HOOKMILL_KEY_FILE=new.key HOOKMILL_OLD_KEY_FILE=old.key hookmill key rotate -o json`)
    .action(async (_, command: CliCommand) => {
      const { store, output } = await openContext(command);
      const { HOOKMILL_KEY } = store.place.environment;
      const describe = (resealed: number) => `${resealed} values`;
      const resealed = await recordOwnChange({ store }, 'rotateKey', '', store.rotateKey, describe).finally(
        store.close,
      );
      const next = HOOKMILL_KEY
        ? 'Now restart the daemons without HOOKMILL_OLD_KEY.'
        : 'The home has a new key file: keep a copy of it elsewhere.';
      printData(output, { resealed }, () => `Sealed ${resealed} values with the new key. ${next}\n`);
    });
}
