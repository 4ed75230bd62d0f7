import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill tokens`. */
export function declareTokens(parent: Command): Command {
  return addCommand(
    parent,
    'tokens',
    'manage API tokens for the management API and the dashboard',
    `
Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens list`,
  );
}
