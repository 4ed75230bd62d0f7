import { nameActor } from '../../operations/access/audit.ts';
import { openContext } from '../context.ts';
import { printStatus } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { type CliCommand, declareList } from './cli-command.ts';

/** Declares `hookmill sessions`. */
export function declareSessions(command: CliCommand): void {
  command
    .explain(`list and end sign-ins to the dashboard

Examples:
  hookmill sessions list
  hookmill sessions end 1f0c2a9b7d3e4f56`)
    .subcommands({ list, end });
}

const list = declareList({
  description: 'list who is signed in to the dashboard, since when and from where',
  read: async command => {
    const { store } = await openContext(command);
    const { listSessions } = await import('../../operations/access/sessions.ts');
    return (await listSessions(store, Date.now())).map(({ view }) => view);
  },
  empty: 'Nobody is signed in.',
  heading: ['WHO', 'KIND', 'FROM', 'BEGAN', 'LAST USED', 'ID'],
  toCells: ({ id, kind, name, subject, from, beganAt, usedAt }) => {
    return [nameActor({ name, subject }), kind, from, beganAt, usedAt, id];
  },
});

function end(command: CliCommand): void {
  command
    .explain(`end a sign-in to the dashboard; a running daemon refuses it at once

Examples:
  hookmill sessions end 1f0c2a9b7d3e4f56
  hookmill --home /srv/hookmill sessions end 1f0c2a9b7d3e4f56`)
    .argument('<id>', 'ID of the session, as `hookmill sessions list` shows it')
    .action(async (id: string, _, command: CliCommand) => {
      const { store } = await openContext(command);
      const { findSession, listSessions } = await import('../../operations/access/sessions.ts');
      const end = async () => {
        const { view, stored } = findSession(await listSessions(store, Date.now()), id);
        await store.sessions.remove(stored.digest);
        return nameActor(view);
      };
      const whose = await recordOwnChange({ store }, 'endSession', id, end, owner => `${id} of ${owner}`);
      printStatus(`Ended a session of ${whose}: its next request is refused.`);
    });
}
