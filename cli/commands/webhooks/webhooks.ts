import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill webhooks`. */
export function declareWebhooks(parent: Command): Command {
  return addCommand(
    parent,
    'webhooks',
    'show applied webhooks and their ingress URLs',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks show deploys`,
  );
}
