import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

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
