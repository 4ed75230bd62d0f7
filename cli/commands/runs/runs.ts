import type { Command } from 'commander';
import { addCommand } from '../add-command.ts';

/** Declares the group `hookmill runs`. */
export function declareRuns(parent: Command): Command {
  return addCommand(
    parent,
    'runs',
    'list, show, follow, retry and dismiss runs',
    `
Examples:
  hookmill runs list --state failed
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
}
