import { mutantsAgainstRuns } from './against-committers-and-runs.ts';
import { mutantsAgainstStrangers } from './against-strangers.ts';
import { mutantsForCallers } from './for-senders-and-callers.ts';
import type { Mutant } from './mutant.ts';

/** At least one fault for each promise of SECURITY.md and README.md. */
export const mutants: readonly Mutant[] = [
  ...mutantsAgainstStrangers,
  ...mutantsForCallers,
  ...mutantsAgainstRuns,
];
