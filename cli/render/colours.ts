import pc from 'picocolors';
import type { Summary } from '../../operations/plan/plan.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import type { Commit } from '../../schema/commit.ts';

// Colours are only for terminals, because programs read piped output. https://no-color.org
const { FORCE_COLOR, NO_COLOR } = process.env;
const wanted = FORCE_COLOR ? FORCE_COLOR !== '0' : process.stdout.isTTY && process.stderr.isTTY;

export const colours = pc.createColors(wanted && !NO_COLOR);

/** A commit in a few words. Committers choose author and subject, so callers must escape the text. */
export function describeCommit({ revision, subject, author }: Commit): string {
  return `${shortenRevision(revision)} "${subject}" (${author})`;
}

/** The numbers of changes in a plan, in words. */
export function renderCounts({ add, change, destroy }: Summary): string {
  return `${add} to add, ${change} to change, ${destroy} to destroy`;
}
