/** What a repository knows of a commit that is to be merged into the branch that a factory follows. */
export interface MergeFacts {
  /** The applied revision; undefined if nothing of the branch is applied. */
  readonly applied: string | undefined;
  /** The newest known commit of the branch that is, or descends from, the applied one. */
  readonly tip: string | undefined;
  readonly head: string;
  /** The parents of HEAD, also those that a shallow clone lacks. */
  readonly parents: readonly string[];
  /** The merge base of HEAD and the tip. */
  readonly base: string | undefined;
  /** Whether the branch itself is checked out, and does not descend from the applied revision. */
  readonly isRewound: boolean;
}

export type MergeVerdict =
  /** HEAD contains the tip. */
  | 'up-to-date'
  /** HEAD and the tip have to be merged. */
  | 'behind'
  /** As `behind`; and HEAD is the branch itself, with commits beside the applied one, so that its push is refused. */
  | 'rewound'
  /** The repository lacks the tip, or the merge base. */
  | 'unknown';

/** Decides what to merge for a plan of the merge. */
export function judgeMerge({ applied, tip, head, parents, base, isRewound }: MergeFacts): MergeVerdict {
  if (tip !== undefined && base !== undefined) {
    if (base === tip) return 'up-to-date';
    return isRewound && base !== head ? 'rewound' : 'behind';
  }
  // CI may check out the merge itself, without its history.
  const newest = tip ?? applied;
  return newest !== undefined && [head, ...parents].includes(newest) ? 'up-to-date' : 'unknown';
}
