import type { Command } from 'commander';
import { nameActor } from '../../../operations/audit.ts';
import { openContext } from '../../context.ts';
import { printStatus } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill sessions end`. */
export function declareSessionsEnd(parent: Command): Command {
  return addCommand(
    parent,
    'end',
    'end a sign-in to the dashboard; a running daemon refuses it at once',
    `
Examples:
  hookmill sessions end 1f0c2a9b7d3e4f56
  hookmill --home /srv/hookmill sessions end 1f0c2a9b7d3e4f56`,
  )
    .argument('<id>', 'ID of the session, as `hookmill sessions list` shows it')
    .action(async (id: string, _, command: Command) => {
      const { store } = await openContext(command);
      requireHome(store.place);
      const { findSession, listSessions } = await import('../../../operations/sessions.ts');
      const { view, stored } = findSession(await listSessions(store, Date.now()), id);
      const whose = nameActor(view);
      const all = { store, factory: null };
      await recordOwnChange(all, 'endSession', `${id} of ${whose}`, () =>
        store.sessions.remove(stored.digest),
      );
      printStatus(`Ended a session of ${whose}: its next request is refused.`);
    });
}
