import type { Command } from 'commander';
import { nameActor } from '../../../operations/audit.ts';
import { openContext } from '../../context.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

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
    const { listSessions } = await import('../../../operations/sessions.ts');
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
