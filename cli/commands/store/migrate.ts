import type { Command } from 'commander';
import { openContext } from '../../context.ts';
import { printData } from '../../output.ts';
import { recordOwnMade } from '../../record-own-change.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill store migrate`. */
export function declareStoreMigrate(parent: Command): Command {
  return addCommand(
    parent,
    'migrate',
    'create or update the tables in PostgreSQL',
    `
The daemon and all commands do this too if their role may. Run it as the owner of the database if it may not.

Examples:
  hookmill store migrate --store postgres://owner@db.example/hookmill
  hookmill store migrate -o json`,
  ).action(async (_, command: Command) => {
    const { store, output } = await openContext(command);
    const { before, after } = await store.migrate();
    if (before !== after) await recordOwnMade(store, 'migrateStore', `version ${before} to ${after}`);
    printData(output, { before, after }, () =>
      before === after
        ? `The tables have version ${after} already.\n`
        : `Migrated the tables from version ${before} to ${after}.\n`,
    );
  });
}
