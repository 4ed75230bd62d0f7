import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill secrets`. */
export function declareSecrets(parent: Command): Command {
  return addCommand(
    parent,
    'secrets',
    'manage team secrets, the credentials that definitions refer to by name',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets list`,
  );
}
