import type { Command } from 'commander';
import { nameActor } from '../../operations/access/audit.ts';
import { openContext } from '../context.ts';
import { printData, printStatus } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { renderTable } from '../render/render-table.ts';
import { requireHome } from '../require-home.ts';
import { addCommand } from './add-command.ts';

/** Declares the group `hookmill sessions`. */
export function declareSessions(parent: Command): Command {
  return addCommand(
    parent,
    'sessions',
    'list and end sign-ins to the dashboard',
    `
Examples:
  hookmill sessions list
  hookmill sessions end 1f0c2a9b7d3e4f56`,
  );
}

/** Declares `hookmill sessions list`. */
export function declareSessionsList(parent: Command): Command {
  return addCommand(
    parent,
    'list',
    'list who is signed in to the dashboard, since when and from where',
    `
Examples:
  hookmill sessions list
  hookmill sessions list -o json`,
  ).action(async (_, command: Command) => {
    const { store, output } = await openContext(command);
    const { listSessions } = await import('../../operations/access/sessions.ts');
    const data = (await listSessions(store, Date.now())).map(({ view }) => view);
    printData(output, data, () => {
      if (data.length === 0) return 'Nobody is signed in.\n';
      const rows = data.map(({ id, kind, name, subject, from, beganAt, usedAt }) => {
        return [nameActor({ name, subject }), kind, from, beganAt, usedAt, id];
      });
      return renderTable(['WHO', 'KIND', 'FROM', 'BEGAN', 'LAST USED', 'ID'], rows);
    });
  });
}

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
      const { findSession, listSessions } = await import('../../operations/access/sessions.ts');
      const { view, stored } = findSession(await listSessions(store, Date.now()), id);
      const whose = nameActor(view);
      const all = { store, factory: null };
      await recordOwnChange(all, 'endSession', `${id} of ${whose}`, () =>
        store.sessions.remove(stored.digest),
      );
      printStatus(`Ended a session of ${whose}: its next request is refused.`);
    });
}
