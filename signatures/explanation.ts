/** What is wrong with a request, and what the owner of its webhook can do about it, each without a period at its end. */
export interface Explanation {
  readonly cause: string;
  /** Says `the team secret` where it means the webhook's, so that its name can be added. */
  readonly remedy: string | undefined;
}

/** The reason of a rejection as the log has it: the remedy is its second line. */
export function joinReason({ cause, remedy }: Explanation): string {
  return remedy === undefined ? cause : `${cause}\n${remedy}`;
}

export function splitReason(reason: string): Explanation {
  const [cause = '', remedy] = reason.split('\n');
  return { cause, remedy };
}
