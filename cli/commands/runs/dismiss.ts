import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { addCommand } from '../add-command.ts';
import { actOnFailedRuns } from './act-on-failed-runs.ts';

/** Declares `hookmill runs dismiss`. */
export function declareRunsDismiss(parent: Command, openBackend: OpenBackend): Command {
  const command = addCommand(
    parent,
    'dismiss',
    'give up failed runs, so that they hold no others',
    `
A dismissed run stays failed. With onFailure: hold, the runs behind it go on. A retry of its ID undoes it. Without an ID,
all failed runs that the options choose are dismissed, oldest first: confirm at the prompt or use --yes.

Examples:
  hookmill runs dismiss run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs dismiss --automation triage --since 1h --dry-run`,
  );
  return actOnFailedRuns(command, openBackend, {
    operation: 'dismissRun',
    verb: 'dismiss',
    done: 'dismissed',
    report: id => `Dismissed ${id}.`,
  });
}
