import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill payloads`. */
export function declarePayloads(parent: Command): Command {
  return addCommand(
    parent,
    'payloads',
    'show what senders really send',
    `
Examples:
  hookmill payloads describe deploys
  hookmill payloads describe deploys -o typescript > deploys.d.ts`,
  );
}
