import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill schemes`. */
export function declareSchemes(parent: Command): Command {
  return addCommand(
    parent,
    'schemes',
    'list the signature schemes of providers, and explain each',
    `
Examples:
  hookmill schemes list
  hookmill schemes show stripe`,
  );
}
