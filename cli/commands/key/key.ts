import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill key`. */
export function declareKey(parent: Command): Command {
  return addCommand(
    parent,
    'key',
    'change the key that seals team secrets and credentials',
    `
Examples:
  hookmill key rotate
  hookmill key rotate --home /var/lib/hookmill -o json`,
  );
}
