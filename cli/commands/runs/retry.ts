import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { printStatus } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs retry`. */
export function declareRunsRetry(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'retry',
    'queue a failed run again and reset its attempt count',
    `
Examples:
  hookmill runs retry run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs list --state failed -o json | jq -r '.[].id' | xargs -n1 hookmill runs retry`,
  )
    .argument('<id>', 'ID of the run')
    .action(async (id: string, _, command: Command) => {
      const { backend } = await openBackend(command);
      await backend.retryRun(id);
      printStatus(`Queued ${id} again.`);
    });
}
