import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill deliveries`. */
export function declareDeliveries(parent: Command): Command {
  return addCommand(
    parent,
    'deliveries',
    'list, explain and replay deliveries',
    `
Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
}
