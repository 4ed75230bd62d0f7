import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { addCommand } from '../add-command.ts';
import { actOnFailedRuns } from './act-on-failed-runs.ts';

/** Declares `hookmill runs retry`. */
export function declareRunsRetry(parent: Command, openBackend: OpenBackend): Command {
  const command = addCommand(
    parent,
    'retry',
    'queue failed runs again and reset their attempt counts',
    `
Without an ID, all failed runs that the options choose are queued again, oldest first, apart from dismissed ones. hookmill
counts them and asks: confirm at the prompt or use --yes. After an interruption it can be repeated: it finds only runs
that are still failed.

Examples:
  hookmill runs retry run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs retry --state failed --since 1h --dry-run
  hookmill runs retry --automation triage --since 2026-01-31 --yes`,
  );
  return actOnFailedRuns(command, openBackend, {
    operation: 'retryRun',
    verb: 'retry',
    done: 'retried',
    report: id => `Queued ${id} again.`,
  });
}
