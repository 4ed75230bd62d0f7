import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill store`. */
export function declareStore(parent: Command): Command {
  return addCommand(
    parent,
    'store',
    'prepare, check, copy, back up or restore what keeps everything',
    `
Examples:
  HOOKMILL_STORE=postgres://owner@db.example/hookmill hookmill store migrate
  hookmill store check
  hookmill store backup /backups/hookmill-monday
  hookmill store copy --from .hookmill --to postgres`,
  );
}
