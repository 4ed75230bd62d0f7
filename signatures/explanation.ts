/** The cause of a rejection, and the remedy for the owner of the webhook. Neither ends with a period. */
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
