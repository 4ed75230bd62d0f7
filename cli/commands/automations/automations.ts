import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill automations`. */
export function declareAutomations(parent: Command): Command {
  return addCommand(
    parent,
    'automations',
    'show applied automations, test their filters, and try their prompts',
    `
Examples:
  hookmill automations list
  hookmill automations test triage --payload event.json`,
  );
}
